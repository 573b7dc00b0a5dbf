import { reserveTenantSlot, type SlotKind } from '../tenant-slots'

/** Each may hold the text of a large run. */
const EXPORTS: SlotKind = {
  ...{ name: 'exports', perTenant: 2, inAll: 8, longestMs: 10 * 60_000 },
  refusal: 'Other exports are under way; try again shortly.',
}

/**
 * Counts a new export.
 * @returns a function that ends the count; further calls do nothing
 * @throws AppError UNAVAILABLE, with `retry-after`
 */
export function reserveExport(tenantId: string): () => void {
  return reserveTenantSlot(EXPORTS, tenantId)
}
