/** Counts the slots in use. */
export interface SlotUsage {
  /** Slots in use, including those of one tenant beyond its share. */
  held: number
  /** Slots this tenant may still take. */
  freeFor(tenantId: string): number
  /** How many of the waiting scripts could run now, given enough workers. */
  wanted(queued: Iterable<[tenantId: string, scripts: number]>): number
}

/**
 * A tenant's share is one slot less than the total, so other tenants always find one. A script that waits for an
 * outside reply frees its slot. If replies resume more scripts of a tenant than its share, the excess takes no slots
 * from other tenants; the number of workers stays bounded anyway.
 */
export function countSlots(
  busy: readonly { tenantId: string; waiting: boolean }[],
  { maxRunning, maxWaiting }: { maxRunning: number; maxWaiting: number },
): SlotUsage {
  const share = Math.max(1, maxRunning - 1)
  const waitingShare = Math.ceil(maxWaiting / 2)
  const byTenant = new Map<string, { held: number; away: number }>()
  let away = 0
  for (const { tenantId, waiting } of busy) {
    const tenant = byTenant.get(tenantId) ?? { held: 0, away: 0 }
    byTenant.set(tenantId, tenant)
    if (waiting && tenant.away < waitingShare && away < maxWaiting) {
      tenant.away++
      away++
    } else tenant.held++
  }
  let taken = 0
  for (const { held } of byTenant.values()) taken += Math.min(held, share)
  const free = Math.max(0, Math.min(maxRunning - taken, maxRunning + maxWaiting - busy.length))
  const freeFor = (tenantId: string) => Math.min(free, Math.max(0, share - (byTenant.get(tenantId)?.held ?? 0)))
  return {
    held: busy.length - away,
    freeFor,
    wanted(queued) {
      let scripts = 0
      for (const [tenantId, count] of queued) scripts += Math.min(count, freeFor(tenantId))
      return Math.min(scripts, free)
    },
  }
}
