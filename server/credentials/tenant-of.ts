import { eq } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { apiKeys } from '@/db/schema/keys'
import { signingSecrets } from '@/db/schema/secrets'
import { AppError } from '../errors'

/**
 * The tenant of an API key, for administrators of the whole service who know only its id.
 * @throws AppError NOT_FOUND
 */
export async function tenantOfApiKey(db: Db, id: string): Promise<string> {
  const [row] = await db.select({ tenantId: apiKeys.tenantId }).from(apiKeys).where(eq(apiKeys.id, id)).limit(1)
  if (!row) throw new AppError('NOT_FOUND', { message: 'API key not found' })
  return row.tenantId
}

/**
 * The tenant of a signing secret.
 * @throws AppError NOT_FOUND
 */
export async function tenantOfSigningSecret(db: Db, id: string): Promise<string> {
  const [row] = await db
    .select({ tenantId: signingSecrets.tenantId })
    .from(signingSecrets)
    .where(eq(signingSecrets.id, id))
    .limit(1)
  if (!row) throw new AppError('NOT_FOUND', { message: 'Signing secret not found' })
  return row.tenantId
}
