import type { ToolOutcome } from './schema'

/** A slower script begins as a step of its own: running inline delays the record of the step before it. */
const QUICK_MS = 25
const CAPACITY = 2_000

/** The scripts whose last run in this process was quick, latest last. */
const quick = new Set<string>()

export function isQuickScript(key: string): boolean {
  return quick.has(key)
}

/** Runs a script that only computes, and records whether it was quick. */
export async function timedScript(key: string, run: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  const began = performance.now()
  const outcome = await run()
  const took = performance.now() - began - (outcome.waitedMs ?? 0)
  quick.delete(key)
  if (outcome.success && took <= QUICK_MS) quick.add(key)
  if (quick.size > CAPACITY) quick.delete(quick.keys().next().value ?? key)
  return outcome
}
