import { processWide } from '@/db/process-wide'

/**
 * How long after its commit a step may begin without reading the database again. It limits what a lost notification can
 * cause.
 */
const TRUST_MS = 1_000

/** A point in time on two clocks: one stops while the machine sleeps, the other can be set. */
export interface Mark {
  at: number
  wall: number
}

interface LastChanges {
  /**
   * The time of the last notification about each run, for the last `TRUST_MS`; anything older must be read again
   * anyway.
   */
  runs: Map<string, number>
  listening: boolean
  changedAt: number
}

const lastChanges = () =>
  processWide<LastChanges>('runs.heard', () => ({ runs: new Map(), listening: false, changedAt: performance.now() }))

/** The current time, to check later whether a notification has arrived since. */
export function mark(): Mark {
  return { at: performance.now(), wall: Date.now() }
}

/** Notes a notification about a run: it may have ended, or been asked to stop. */
export function noteNews(runId: string): void {
  const { runs } = lastChanges()
  const now = performance.now()
  runs.delete(runId)
  runs.set(runId, now)
  for (const [id, at] of runs) {
    if (now - at <= TRUST_MS) break
    runs.delete(id)
  }
}

export function setListening(listening: boolean): void {
  const state = lastChanges()
  state.listening = listening
  state.changedAt = performance.now()
}

/** Whether notifications arrive, so that frequent polling is unnecessary. */
export function isListening(): boolean {
  return lastChanges().listening
}

/** Whether knowledge of a run from a mark may be out of date. Sends no statement. */
export function changedSince(runId: string, since: Mark): boolean {
  const { runs, changedAt } = lastChanges()
  if ((runs.get(runId) ?? Number.NEGATIVE_INFINITY) >= since.at || changedAt >= since.at) return true
  // If the process was suspended or its event loop blocked, more time has passed than it noticed.
  return performance.now() - since.at > TRUST_MS || Math.abs(Date.now() - since.wall) > TRUST_MS
}

/** The same, or whether this process may have missed a notification. */
export function mayHaveChanged(runId: string, since: Mark): boolean {
  return !lastChanges().listening || changedSince(runId, since)
}
