// The entry point for code that starts, answers, stops and watches runs. `driver.ts` is the one for driving them.
export type { Parked } from './flow/types'
export { moveToVersion, type Target } from './move/move'
export type { Question } from './move/question'
export { type Busy, type OpenRun, type OpenWalk, readOpenRun } from './move/read'
export { announceRun } from './notice/announce'
export { changedSince, isListening, type Mark, mark } from './notice/heard'
export { expectChange, expectedChange, watchRun } from './notice/watch'
export type { DoneStep, NewRecord } from './plan/types'
export {
  awaitEnd,
  forget,
  isEndingHere,
  type RememberedRecord,
  recallPause,
  recallRun,
  stopAwaiting,
} from './recall/run'
export { requestAgain } from './repair/untaken'
export { askToCancel } from './stop/cancel'
export { newCancellation, terminateNow } from './stop/terminate'
export { answerHeld, dataAt, findOpenPauses, type OpenPause, parkedAt } from './wait/answer'
export { answerChild, childSettled, childStarted } from './wait/child'
export { lookForEvents } from './wait/events'
export { answerParked } from './wait/parked'
export { insertRun } from './walk/start'
export { explainable } from './write/explain'
export { touchRun } from './write/held'
export { noteReminder } from './write/marks'
export type { NewRun } from './write/start-row'
