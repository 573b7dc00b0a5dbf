import { and, eq } from 'drizzle-orm'
import { signingSecrets } from '@/db/schema/secrets'
import type { ServiceContext } from '../../context'
import { AppError } from '../../errors'
import { ANY_TENANT } from '../api-keys/find'

/** A secret by its id, in the context's tenant or, for the administrator of the whole service, in any. */
export async function getSigningSecret(ctx: ServiceContext, id: string) {
  const mine = ctx.tenantId === ANY_TENANT ? undefined : eq(signingSecrets.tenantId, ctx.tenantId)
  const [row] = await ctx.db
    .select()
    .from(signingSecrets)
    .where(and(eq(signingSecrets.id, id), mine))
    .limit(1)
  if (!row) throw new AppError('NOT_FOUND', { message: 'Signing secret not found' })
  return row
}
