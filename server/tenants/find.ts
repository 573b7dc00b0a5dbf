import { eq } from 'drizzle-orm'
import { tenants } from '@/db/schema/tenants'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'

/**
 * The caller's tenant.
 * @param options.lock prevents concurrent changes; rows that refer to it, such as runs, can still be written
 */
export async function getTenant(ctx: ServiceContext, options: { lock?: boolean } = {}) {
  const query = ctx.db.select().from(tenants).where(eq(tenants.id, ctx.tenantId))
  const [row] = await (options.lock ? query.for('no key update') : query)
  if (!row) throw new AppError('NOT_FOUND', { message: 'Tenant not found' })
  return row
}
