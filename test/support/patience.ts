/** For what comes by itself, however long a busy machine takes. */
export const PATIENCE = { timeout: 60_000, interval: 25 }

/**
 * How long work takes at its quickest. Other work on the machine only ever adds time, so one run within the limit shows
 * what the code itself takes; a run beyond it is repeated.
 */
export async function quickest(limitMs: number, work: () => unknown, most = 12): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < most && best >= limitMs; run++) {
    const started = performance.now()
    await work()
    best = Math.min(best, performance.now() - started)
  }
  return best
}
