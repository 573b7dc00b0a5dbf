/** Seeds that found a fault, and why each is kept. `npm test` replays them. */
export const FAILED_ONCE: readonly number[] = [
  // A zombie's claim of the walk it still had: no fault, but the check took it for one.
  21,
]
