// The door for what drives runs. It loads the SDK of Inngest, which no request needs.
export { listenAlways } from './notice/watch'
export { sweepRuns } from './repair/sweep'
export { failWalk } from './stop/abandon'
export { watchDue } from './wait/due'
export { type StepTools, walk } from './walk/walk'
