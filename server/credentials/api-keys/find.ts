import { and, eq } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import type { ServiceContext } from '../../context'
import { AppError } from '../../errors'
import { isId } from '../../ids'

/**
 * Finds a key of the caller's tenant by id.
 * @throws AppError NOT_FOUND
 */
export async function getApiKey(ctx: ServiceContext, id: string, options: { lock?: boolean } = {}) {
  const missing = () => new AppError('NOT_FOUND', { message: 'Not found: no API key has this id' })
  if (!isId(id)) throw missing()
  const query = ctx.db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.tenantId, ctx.tenantId), eq(apiKeys.id, id)))
    .limit(1)
  const [row] = await (options.lock ? query.for('update') : query)
  if (!row) throw missing()
  return row
}
