import { and, eq } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import type { ServiceContext } from '../../context'
import { AppError } from '../../errors'

/**
 * A key by its id, in the context's tenant or, for the administrator of the whole service, in any.
 * @throws AppError NOT_FOUND
 */
export async function getApiKey(ctx: ServiceContext, id: string, options: { lock?: boolean } = {}) {
  const mine = ctx.tenantId === ANY_TENANT ? undefined : eq(apiKeys.tenantId, ctx.tenantId)
  const query = ctx.db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.id, id), mine))
    .limit(1)
  const [row] = await (options.lock ? query.for('update') : query)
  if (!row) throw new AppError('NOT_FOUND', { message: 'API key not found' })
  return row
}

/** The tenant of a context that administers the whole service. No row has it. */
export const ANY_TENANT = '*'
