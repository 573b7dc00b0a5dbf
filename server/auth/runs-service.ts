import type { Db, Tx } from '@/db/index'
import { tenants } from '@/db/schema/tenants'
import { env } from '../env'

/**
 * Whether a workspace belongs to the people who run the service: the one that `OPERATOR_TENANT_ID` names, or the only
 * one. Ids never pass on to another workspace, as names in URLs may.
 */
export async function runsService(db: Db | Tx, tenantId: string): Promise<boolean> {
  const { OPERATOR_TENANT_ID: named } = env()
  if (named !== undefined) return named === tenantId
  const found = await db.select({ id: tenants.id }).from(tenants).limit(2)
  return found.length === 1 && found[0]?.id === tenantId
}
