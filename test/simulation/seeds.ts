/** Seeds that found a fault, with the reason for each. `npm test` replays them. */
export const FAILED_ONCE: readonly number[] = [
  // A zombie claimed the walk it still had: no fault, but the check mistook it for one.
  21,
  // Its attempts were lost four times, and the last one failed transiently: a legal end.
  593563183,
  // An effect after a read that preceded the read of its definition, which the check mistook for the decisive read.
  349791289,
  // A branch that the engine forgot, beside a pause without an answer: the check did not wait for the sweep.
  349793077,
  // An overtaken attempt had its effect after the other attempt's had ended, and before that was recorded.
  581894266,
  // An effect after a read of a large value, which the check mistook for a read of the walk.
  142762239,
  // A run that was retried in the millisecond in which it ended: the check took copied records for the retry's own.
  997101084,
  // A branch due for a retry, beside a pause without an answer: the check did not wait for it.
  997099205,
]
