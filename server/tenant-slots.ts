import { processWide } from '@/db/process-wide'
import { AppError } from './errors'

/** Work that a process limits: how much it does at a time, for one tenant and in all, in units of its kind. */
export interface SlotKind {
  name: string
  perTenant: number
  inAll: number
  /** When a slot is free again, even if its work has not ended: its caller has left, or might as well have. */
  longestMs: number
  /** Why another one has to wait. */
  refusal: string
}

interface Taken {
  tenantId: string
  amount: number
}

const sum = (all: readonly Taken[]) => all.reduce((so, { amount }) => so + amount, 0)

/**
 * Counts new work of a kind.
 * @param amount how many units it takes; more than a tenant may have counts as that many
 * @returns a function that ends the count; further calls do nothing
 * @throws AppError UNAVAILABLE, with `retry-after`
 */
export function reserveTenantSlot(kind: SlotKind, tenantId: string, amount = 1): () => void {
  const all = processWide(`slots ${kind.name}`, () => new Set<Taken>())
  const taken = Math.min(amount, kind.perTenant)
  const own = [...all].filter((one) => one.tenantId === tenantId)
  if (sum(own) + taken > kind.perTenant || sum([...all]) + taken > kind.inAll) {
    throw new AppError('UNAVAILABLE', { details: [{ message: kind.refusal }], headers: { 'retry-after': '5' } })
  }
  const mine = { tenantId, amount: taken }
  all.add(mine)
  const release = () => {
    clearTimeout(timer)
    all.delete(mine)
  }
  const timer = setTimeout(release, kind.longestMs)
  timer.unref()
  return release
}
