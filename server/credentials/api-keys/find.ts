import { and, eq } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import type { ServiceContext } from '../../context'
import { AppError } from '../../errors'

/**
 * Finds a key of the caller's tenant by id.
 * @throws AppError NOT_FOUND
 */
export async function getApiKey(ctx: ServiceContext, id: string, options: { lock?: boolean } = {}) {
  const query = ctx.db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.tenantId, ctx.tenantId), eq(apiKeys.id, id)))
    .limit(1)
  const [row] = await (options.lock ? query.for('update') : query)
  if (!row) throw new AppError('NOT_FOUND', { message: 'API key not found' })
  return row
}
