/** Carries the secret part of a task link. A header, so that it is in no address. */
export const TASK_LINK_HEADER = 'x-task-link'
