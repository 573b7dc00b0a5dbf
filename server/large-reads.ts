import { processWide } from '@/db/process-wide'
import type { ServiceContext } from './context'
import { READ_SLOTS, readsDatabase } from './database'
import { AppError } from './errors'

/** How many of the slots one tenant may use. */
const SLOTS_PER_TENANT = 1
const PATIENCE_MS = 2_000

type Waiter = () => void

interface Slots {
  /** How many slots each tenant uses now. */
  taken: Map<string, number>
  /** Waiting reads by tenant; the tenant to serve next comes first. */
  waiting: Map<string, Set<Waiter>>
}

const slots = () => processWide<Slots>('large-reads', () => ({ taken: new Map(), waiting: new Map() }))

/**
 * Runs a read that may take many megabytes, on connections reserved for such reads: a few at a time, tenants taking
 * turns.
 * @param patienceMs how long to wait for a slot
 * @throws AppError UNAVAILABLE, with `retry-after`, if no slot became free in time
 */
export async function largeRead<T>(
  ctx: ServiceContext,
  read: (ctx: ServiceContext) => Promise<T>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  await acquireSlot(ctx.tenantId, patienceMs)
  try {
    return await read({ ...ctx, db: readsDatabase().db })
  } finally {
    releaseSlot(ctx.tenantId)
  }
}

function acquireSlot(tenantId: string, patienceMs: number): Promise<void> {
  const { waiting } = slots()
  if (isFree(tenantId)) {
    occupy(tenantId)
    return Promise.resolve()
  }
  return new Promise((resolve, reject) => {
    const queue = waiting.get(tenantId) ?? new Set()
    waiting.set(tenantId, queue)
    const waiter = () => {
      clearTimeout(timer)
      forget(tenantId, waiter)
      resolve()
    }
    const timer = setTimeout(() => {
      forget(tenantId, waiter)
      const message = 'Other large answers are being read; try again shortly.'
      reject(new AppError('UNAVAILABLE', { details: [{ message }], headers: { 'retry-after': '2' } }))
    }, patienceMs)
    queue.add(waiter)
  })
}

function isFree(tenantId: string): boolean {
  const { taken } = slots()
  const all = [...taken.values()].reduce((sum, count) => sum + count, 0)
  return all < READ_SLOTS && (taken.get(tenantId) ?? 0) < SLOTS_PER_TENANT
}

function occupy(tenantId: string): void {
  const { taken } = slots()
  taken.set(tenantId, (taken.get(tenantId) ?? 0) + 1)
}

function forget(tenantId: string, waiter: Waiter): void {
  const { waiting } = slots()
  const queue = waiting.get(tenantId)
  queue?.delete(waiter)
  if (queue?.size === 0) waiting.delete(tenantId)
}

function releaseSlot(tenantId: string): void {
  const { taken, waiting } = slots()
  const left = (taken.get(tenantId) ?? 1) - 1
  if (left > 0) taken.set(tenantId, left)
  else taken.delete(tenantId)
  for (const [next, queue] of waiting) {
    if (!isFree(next)) continue
    const [waiter] = queue
    if (!waiter) continue
    occupy(next)
    // Moves the tenant to the end, so that its other reads wait until every other tenant had a turn.
    waiting.delete(next)
    waiting.set(next, queue)
    waiter()
    return
  }
}
