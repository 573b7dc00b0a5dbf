/** The engine's constants. Those with a counterpart in `EngineOptions` are its defaults. */

/**
 * Raise it when processes with a lower number cannot continue what this one writes. While such a process runs, this one
 * writes only what they can read. 1: queued runs without a row, walks without an engine run. 2: the product's run data
 * by reference. 3: visits in parts, and calls of agents that need a decision. 4: turns of invoke and chat in runs. 5: files
 * of threads, and the calls of agents that were handed a message.
 */
export const RELEASE = 5

/** How many calls a process executes concurrently. */
export const SLOTS = 136
/** Slots that functions with a concurrency key never take, so that crons and failure handlers always find room. */
export const MAX_KEPT_FREE = 8

/** A process that has not renewed a claim for this long has lost it. Claims are renewed three times as often. */
export const LEASE_MS = 15_000
/**
 * How long after a failed statement its outcome is checked. By then the answers to all other statements in flight have
 * been read.
 */
export const RECHECK_AFTER_MS = 1_000
/** The longest time between checks for work without a notification. */
export const LONGEST_PAUSE_MS = 5_000

/** A job whose process died this often may be the cause (a suspect): it no longer runs alongside other suspects. */
export const SUSPECT_AFTER = 2
/** How long nothing else may start while a suspect runs. Most jobs that kill their process do so at once. */
export const ALONE_MS = 1_000
/** A job whose process died this often is not delivered again: its run fails. */
export const MAX_DELIVERIES = 5

/** How often a write that fails for an unknown reason is attempted before the run fails with that error. */
export const FAULT_TRIES = 5

/**
 * How long queued jobs may wait before starts are queued behind them instead of waiting for a slot
 * (`admission-queue.ts`).
 */
export const CLOSE_AFTER_MS = 250

/** How long ended runs and their results are retained. */
export const KEEP_MS = 2 * 86_400_000
/** How long event ids and idempotency keys are retained, as on the real server. */
export const REMEMBER_MS = 86_400_000
export const SWEEP_EVERY_MS = 60_000

/** How many of these slots are closed to functions with a concurrency key. */
export function keptFree(slots: number): number {
  return Math.min(MAX_KEPT_FREE, Math.floor(slots / 8))
}
