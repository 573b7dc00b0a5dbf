import { dueTimer } from '../due-timer'

/** For pauses and runs with a due time. */
export const { watch: watchNext, dueBy } = dueTimer('interpreter')
