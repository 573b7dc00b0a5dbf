/** Seeds that found a fault, and why each is kept. `npm test` replays them. */
export const FAILED_ONCE: readonly number[] = [
  // A zombie's claim of the walk it still had: no fault, but the check took it for one.
  21,
  // Its attempts were lost four times, and the last one failed for a time: a legal end.
  593563183,
  // An effect after a look that came before its definition was read, which the check took for the look.
  349791289,
  // A branch that the engine forgot, beside a pause that nobody answered: the check did not wait for the sweep.
  349793077,
  // An attempt that was taken over had its effect after the other's had ended, and before that was recorded.
  581894266,
  // An effect after a read of a large value, which the check took for a look at the walk.
  142762239,
  // A run that was retried in the millisecond in which it ended: the check took copied records for the retry's own.
  997101084,
  // A branch that was to try again, beside a pause that nobody answered: the check did not wait for it.
  997099205,
]
