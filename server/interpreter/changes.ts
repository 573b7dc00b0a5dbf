import { database } from '../database'
import { log } from '../log'
import { processWide } from '../process'
import { RUN_CHANNEL } from './announce'

type Tell = () => void

interface Watchers {
  /** Hear when a run pauses, ends or is asked to stop, wherever that happens. */
  announced: Map<string, Set<Tell>>
  /** Hear of every change made in this process as well. */
  every: Map<string, Set<Tell>>
  listening: boolean
}

const watchers = () =>
  processWide<Watchers>('runs.watchers', () => ({ announced: new Map(), every: new Map(), listening: false }))

/**
 * Calls `tell` when a run may have changed: at each announcement of any process and, if `every`, also at each
 * change made in this process. A hint: it may be missed, so who must know polls as well.
 * @returns a function that ends it
 */
export function watchRun(runId: string, tell: Tell, options: { every?: boolean } = {}): () => void {
  listenOnce()
  const map = options.every ? watchers().every : watchers().announced
  const set = map.get(runId) ?? new Set()
  map.set(runId, set.add(tell))
  return () => {
    set.delete(tell)
    if (set.size === 0 && map.get(runId) === set) map.delete(runId)
  }
}

/** A change of a run was committed in this process. Costs nothing while nobody watches the run. */
export function tellLocally(runId: string): void {
  for (const tell of watchers().every.get(runId) ?? []) tell()
}

function listenOnce(): void {
  const shared = watchers()
  if (shared.listening) return
  shared.listening = true
  database()
    .sql.listen(RUN_CHANNEL, (runId) => {
      for (const tell of shared.announced.get(runId) ?? []) tell()
      for (const tell of shared.every.get(runId) ?? []) tell()
    })
    .catch((err: unknown) => {
      shared.listening = false
      log().warn({ err }, 'not listening for runs; polling instead')
    })
}
