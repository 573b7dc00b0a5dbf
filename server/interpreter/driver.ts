// The entry point for code that drives runs. It loads the Inngest SDK, which no request needs.
export { listenAlways } from './notice/watch'
export { sweepRuns } from './repair/sweep'
export { failWalk } from './stop/abandon'
export { watchDue } from './wait/due'
export { type StepTools, walk } from './walk/walk'
