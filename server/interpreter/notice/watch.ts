import { listenWhile } from '@/db/listen-while'
import { processWide } from '@/db/process-wide'
import { database } from '../../database'
import { log } from '../../log'
import { RUN_CHANNEL } from './announce'
import { noteNews, setListening } from './heard'

type Listener = () => void

interface Expected {
  change: Promise<void>
  /** Settles it. */
  over: () => void
}

interface Watchers {
  /** Called when a run pauses, ends or is asked to stop, in any process. */
  announced: Map<string, Set<Listener>>
  /** Also called on every change made in this process. */
  every: Map<string, Set<Listener>>
  /** The changes that this process expects to commit shortly, by run. */
  expected: Map<string, Expected>
}

const watchers = () =>
  processWide<Watchers>('runs.watchers', () => ({
    announced: new Map(),
    every: new Map(),
    expected: new Map(),
  }))

/**
 * Calls `listener` when a run may have changed: on each announcement from any process and, with `every`, on each change
 * made in this process. This is a hint that may get lost, so callers that must know also poll.
 * @returns a function that stops watching
 */
export function watchRun(runId: string, listener: Listener, options: { every?: boolean } = {}): () => void {
  const { release } = listening.use()
  const map = options.every ? watchers().every : watchers().announced
  const set = map.get(runId) ?? new Set()
  map.set(runId, set.add(listener))
  return () => {
    release()
    set.delete(listener)
    if (set.size === 0 && map.get(runId) === set) map.delete(runId)
  }
}

/** Has `expectedChange` wait for the next change of a run that this process commits, until the time is up. */
export function expectChange(runId: string, timeoutMs: number): void {
  const { expected } = watchers()
  expected.get(runId)?.over()
  let settle = () => {}
  const change = new Promise<void>((resolve) => {
    settle = resolve
  })
  const over = () => {
    clearTimeout(timer)
    expected.delete(runId)
    settle()
  }
  const timer = setTimeout(over, timeoutMs)
  expected.set(runId, { change, over })
}

/** Settles with the change that this process expects of a run; undefined if it expects none. */
export function expectedChange(runId: string): Promise<void> | undefined {
  return watchers().expected.get(runId)?.change
}

/** Notifies watchers that this process committed a change of a run. Free when nobody watches the run. */
export function notifyLocally(runId: string): void {
  watchers().expected.get(runId)?.over()
  notifyChange(runId)
}

/** The same, of a change that nobody expects: a call of an agent. */
export function notifyChange(runId: string): void {
  for (const listener of watchers().every.get(runId) ?? []) listener()
}

/** Also notifies watchers that wait for an announcement, even if it concerns an earlier commit. */
export function wake(runId: string): void {
  for (const listener of watchers().announced.get(runId) ?? []) listener()
  notifyChange(runId)
}

/** Announcements of runs from any process. */
const listening = listenWhile('runs', () => {
  const open = database().listen(RUN_CHANNEL, {
    heard(runId) {
      noteNews(runId)
      wake(runId)
    },
    listening: () => setListening(true),
    lost: () => setListening(false),
  })
  open.ready.catch((err: unknown) => log().warn({ err }, 'could not listen for run changes yet; polling meanwhile'))
  return open
})

/** Makes this process listen for its whole life, not only while a run has watchers. */
export function listenAlways(): void {
  listening.use()
}
