import { eq } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'

/** A key by its id, in the context's tenant or, for the administrator of the whole service, in any. */
export async function getApiKey(ctx: ServiceContext, id: string) {
  const rows = await ctx.db.select().from(apiKeys).where(eq(apiKeys.id, id)).limit(1)
  const row = rows.find((key) => key.tenantId === ctx.tenantId || ctx.tenantId === ANY_TENANT)
  if (!row) throw new AppError('NOT_FOUND', { message: 'API key not found' })
  return row
}

/** The tenant of a context that administers the whole service. No row has it. */
export const ANY_TENANT = '*'
