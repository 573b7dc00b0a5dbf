import type { ToolOutcome } from './schema'

/** A script that took longer begins as a step of its own: what runs inline delays the record of the step before it. */
const QUICK_MS = 10
const CAPACITY = 2_000

/** How the last run of a script went. One that was cut ended its worker, so it is never tried inline again. */
type Seen = 'quick' | 'slow' | 'cut'

const seen = new Map<string, Seen>()

/** Whether the last run of this script in this process was quick. */
export function isQuickScript(key: string): boolean {
  return seen.get(key) === 'quick'
}

/** Runs a script that can only compute, and remembers whether it was quick. */
export async function timedScript(
  key: string,
  { inline, signal }: { inline: boolean; signal: AbortSignal },
  run: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const began = performance.now()
  const outcome = await run()
  const { waitedMs = 0 } = outcome
  const took = performance.now() - began - waitedMs
  // It has waited for no time if it never ran.
  if (inline && signal.aborted) note(key, waitedMs > 0 ? 'cut' : 'slow')
  else note(key, took <= QUICK_MS ? 'quick' : 'slow')
  return outcome
}

function note(key: string, how: Seen): void {
  if (seen.get(key) === 'cut') return
  seen.delete(key)
  if (seen.size >= CAPACITY) seen.delete(seen.keys().next().value ?? key)
  seen.set(key, how)
}
