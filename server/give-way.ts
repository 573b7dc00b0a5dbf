import { setImmediate, setTimeout } from 'node:timers'
import { processWide } from '@/db/process-wide'
import type { Sliced } from './definition/sliced'
import { AppError } from './errors'

/** How long work whose cost a caller chooses may block the event loop before it yields. */
const SLICE_MS = 10
/** How long other work then runs, at least: a request needs several turns of the loop. */
const REST_MS = 2
/** The maximum for a single piece of work. */
const MAX_MS = 10_000

interface Slices {
  /** When the last slice began; null once it has ended and nothing waits. */
  began: number | null
  /** The callers that wait for a slice, by tenant; the tenant to serve next comes first. */
  waiting: Map<string, (() => void)[]>
}

const slices = () => processWide<Slices>('slices', () => ({ began: null, waiting: new Map() }))

/**
 * Call it repeatedly during work whose cost a caller chooses, and await the result: undefined during the slice, which
 * all such work of the process shares, otherwise a promise of the next one. Tenants take turns.
 */
export function giveWay(tenantId: string): Promise<void> | undefined {
  const all = slices()
  if (all.began === null) {
    all.began = performance.now()
    setImmediate(rest, all)
  }
  if (performance.now() - all.began < SLICE_MS) return undefined
  return new Promise((resolve) => {
    const mine = all.waiting.get(tenantId)
    if (mine) mine.push(resolve)
    else all.waiting.set(tenantId, [resolve])
  })
}

/** Ends a slice. */
function rest(all: Slices): void {
  if (all.waiting.size === 0) all.began = null
  else setTimeout(next, REST_MS, all)
}

/** Begins a slice for one of the waiting callers. */
function next(all: Slices): void {
  const [[tenantId, [waiter, ...others]] = ['', []]] = all.waiting
  // Moves the tenant to the end.
  all.waiting.delete(tenantId)
  if (others.length > 0) all.waiting.set(tenantId, others)
  all.began = performance.now()
  setImmediate(rest, all)
  waiter?.()
}

/**
 * Runs work in slices, in which tenants take turns: for all work whose cost a caller chooses.
 * @param limits `ms` of the processor's time; `pause` waits after a slice, if something else comes first
 * @throws AppError INVALID_INPUT if it takes longer
 */
export async function inSlices<T>(
  tenantId: string,
  work: Sliced<T>,
  { ms: mostMs = MAX_MS, pause }: { ms?: number; pause?: () => Promise<unknown> | undefined } = {},
): Promise<T> {
  let spent = 0
  for (let since = stopwatch(); ; ) {
    const waits = giveWay(tenantId)
    if (waits) {
      spent += since()
      if (spent > mostMs) throw new AppError('INVALID_INPUT', { details: [{ message: TOO_LONG }] })
      await waits
      // Its slice passes during the pause, so it waits for another one.
      const rest = pause?.()
      if (rest) await rest.then(() => giveWay(tenantId))
      since = stopwatch()
    }
    const { done, value } = work.next(spent)
    if (done) return value
  }
}

const TOO_LONG = 'This takes the service too long. Make it smaller, or divide it.'

/** The smaller one excludes most of others' time: the clock includes other processes, processor time other threads. */
function stopwatch(): () => number {
  const [clock, processor] = [performance.now(), process.cpuUsage()]
  return () => {
    const { user, system } = process.cpuUsage(processor)
    return Math.min(performance.now() - clock, (user + system) / 1_000)
  }
}
