/** The numbers of the engine, each in one place. Those with a counterpart in `EngineOptions` are its defaults. */

/** Calls a process makes at the same time. */
export const PLACES = 72
/** Of those, the places that functions with a concurrency key never take: there crons and failure handlers always find room. */
export const MOST_KEPT_FREE = 8

/** A process that has not renewed a claim for this long has lost it. It renews three times as often. */
export const LEASE_MS = 15_000
/** The longest a process goes without looking for work that nobody announced. */
export const LONGEST_PAUSE_MS = 5_000

/** A job lost this often with its process may be what kills it: from now on it runs apart from other suspects. */
export const SUSPECT_AFTER = 2
/** For this long a suspect runs with nothing beginning beside it. Most jobs that kill do so at once. */
export const ALONE_MS = 1_000
/** A job lost this often is not delivered again: its run fails. */
export const MOST_DELIVERIES = 5

/** How often a write is tried that fails for no known reason, before the run fails with that error. */
export const FAULT_TRIES = 5

/** How long ended runs and their results are kept. */
export const KEEP_MS = 2 * 86_400_000
/** Event ids and idempotency keys count for this long, as on the real server. */
export const REMEMBER_MS = 86_400_000
export const SWEEP_EVERY_MS = 60_000

/** How many of so many places stay out of reach of functions with a concurrency key. */
export function keptFree(places: number): number {
  return Math.min(MOST_KEPT_FREE, Math.floor(places / 8))
}
