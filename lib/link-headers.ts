/** Carries the secret part of a task link. A header, so that it is in no address. */
export const TASK_LINK_HEADER = 'x-task-link'

/** Carries the secret part of a start link, so that it is known before a form that may be large is read. */
export const START_LINK_HEADER = 'x-start-link'
