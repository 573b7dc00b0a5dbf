import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { listCorsOrigins } from './cors'
import { getTenant } from './find'

/**
 * A workspace's name, how long it keeps its runs and its audit log, and the origins allowed to call it from pages.
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
