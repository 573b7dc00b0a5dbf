import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { listCorsOrigins } from './cors'
import { getTenant } from './find'

/**
 * A workspace's name, how long it retains runs and its audit log, and the origins of pages that may call it.
 * @throws AppError NOT_FOUND
 */
export async function getTenantSettings(ctx: ServiceContext) {
  authorize(ctx, 'settings:manage')
  const [{ id, slug, name, keepRunsDays, keepAuditDays, createdAt }, corsOrigins] = await Promise.all([
    getTenant(ctx),
    listCorsOrigins(ctx),
  ])
  return { id, slug, name, keepRunsDays, keepAuditDays, createdAt: createdAt.toISOString(), corsOrigins }
}
