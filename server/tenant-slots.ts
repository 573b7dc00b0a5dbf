import { processWide } from '@/db/process-wide'
import { AppError } from './errors'

/** Work that a process limits: how much it does at a time, for one tenant and in all. */
export interface SlotKind {
  name: string
  perTenant: number
  inAll: number
  /** When a slot is free again, even if its work has not ended: its caller has left, or might as well have. */
  longestMs: number
  /** Why another one has to wait. */
  refusal: string
}

/**
 * Counts new work of a kind.
 * @returns a function that ends the count; further calls do nothing
 * @throws AppError UNAVAILABLE, with `retry-after`
 */
export function reserveTenantSlot(kind: SlotKind, tenantId: string): () => void {
  const all = processWide(`slots ${kind.name}`, () => new Set<{ tenantId: string }>())
  const own = [...all].filter((one) => one.tenantId === tenantId).length
  if (own >= kind.perTenant || all.size >= kind.inAll) {
    throw new AppError('UNAVAILABLE', { details: [{ message: kind.refusal }], headers: { 'retry-after': '5' } })
  }
  const mine = { tenantId }
  all.add(mine)
  const release = () => {
    clearTimeout(timer)
    all.delete(mine)
  }
  const timer = setTimeout(release, kind.longestMs)
  timer.unref()
  return release
}
