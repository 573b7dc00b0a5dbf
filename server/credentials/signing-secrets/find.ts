import { and, eq } from 'drizzle-orm'
import { signingSecrets } from '@/db/schema/secrets'
import type { ServiceContext } from '../../context'
import { unstorable } from '../../definition/json'
import { AppError } from '../../errors'

/** Finds a signing secret of the caller's tenant by id. */
export async function getSigningSecret(ctx: ServiceContext, id: string, options: { lock?: boolean } = {}) {
  const query = ctx.db
    .select()
    .from(signingSecrets)
    .where(and(eq(signingSecrets.tenantId, ctx.tenantId), eq(signingSecrets.id, id)))
    .limit(1)
  const [row] = unstorable(id) ? [] : await (options.lock ? query.for('update') : query)
  if (!row) throw new AppError('NOT_FOUND', { message: 'Signing secret not found' })
  return row
}
