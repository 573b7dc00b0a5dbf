// Computes steps and what follows them. Nothing here reads or writes, so a simulation behaves like a run.
export { pathAside } from './aside'
export { afterCatch, catching, exitOfAnswer, failurePath, TIMED_OUT } from './exits'
export { permanentFailure } from './failure'
export { collected, fillIn, forkOf, lookupWith, notCollected } from './fill-in'
export { failureOf, stateOf } from './scope'
export { storableOutput, withDelta } from './sizes'
export { enterResolved, failureAtEntry, fork, requireVisit, yielded } from './step'
export type { Entered, Entry, Position } from './types'
