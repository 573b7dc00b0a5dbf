/** Why a run is not moved to another version, or not now. */
export const MOVE_REASONS = [
  'BUSY',
  'ANSWER_HELD',
  'STEP_GONE',
  'STEP_TYPE',
  'DATA_MISFIT',
  'BRANCHES_CHANGED',
  'CHILD_CHANGED',
  'CALL_REPEATED',
  'VOTES_LOST',
  'ENDING',
  'TIME_UP',
  'LOOP_SPENT',
  'HIDDEN_FIELD',
  'INPUT_MISFIT',
  'PART',
] as const

export type MoveReasonCode = (typeof MOVE_REASONS)[number]

/** Those that pass by themselves. */
export const PASSING: readonly MoveReasonCode[] = ['BUSY', 'ANSWER_HELD']

/** A reason, and what to do instead. Never a value of the run. */
export interface MoveReason {
  code: MoveReasonCode
  message: string
  advice: string
  /** The step that it is about. */
  stepId?: string
  /** Of `DATA_MISFIT`: the name, and the types that the version claims and that the run has. */
  name?: string
  claimed?: string
  found?: string
}

const AGAIN = 'Run it again on that version, from the step where it should continue, and cancel this run.'
const STAYS = 'Leave it on its version until it has ended.'

/** What to do instead, for a product manager. */
export const ADVICE: Record<MoveReasonCode, string> = {
  BUSY: 'Try again once the step has ended.',
  ANSWER_HELD: 'Try again in ten seconds, when the answer counts or was undone.',
  STEP_GONE: `Publish a version that still has the step. ${AGAIN}`,
  STEP_TYPE: `Give the new step another id, and keep the old one until no run waits there. ${AGAIN}`,
  DATA_MISFIT: `Publish a version that also takes runs without this value, for example with a default. ${AGAIN}`,
  BRANCHES_CHANGED: `Move it once its branches have ended. ${AGAIN}`,
  CHILD_CHANGED: 'Wait until the other run has ended, or cancel this one and run it again.',
  CALL_REPEATED: `Publish a version in which the call does not come after this step. ${STAYS}`,
  VOTES_LOST: 'Wait for the decision, or allow that the votes are dropped: everybody is asked again.',
  ENDING: STAYS,
  TIME_UP: 'Publish a version that gives more time, or answer the task first.',
  LOOP_SPENT: 'Publish a version that allows more visits.',
  HIDDEN_FIELD: 'Publish a version that still marks the field as sensitive.',
  INPUT_MISFIT: 'Start a run of that version with the input that it needs, and cancel this one.',
  PART: STAYS,
}
