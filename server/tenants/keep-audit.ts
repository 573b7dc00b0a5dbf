import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { tenants } from '@/db/schema/tenants'
import { recordChanges } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { differences } from '../definition/audit'
import { parseInput } from '../parse'
import { getTenant } from './find'

const message = 'must be a whole number from 365 to 3650'
/** At least a year: audits look back that far. */
const KeepAudit = z.object({ days: z.number(message).int(message).min(365, message).max(3_650, message) })

/**
 * Sets how many days entries of the audit log are retained. The sweep deletes older ones from now on.
 * @throws AppError INVALID_INPUT, NOT_FOUND, FORBIDDEN
 */
export async function keepAudit(ctx: ServiceContext, input: unknown): Promise<{ days: number }> {
  authorize(ctx, 'audit:delete')
  const { days } = parseInput(KeepAudit, input)
  return withTransaction(ctx, async (tx) => {
    const { id, name, keepAuditDays } = await getTenant(tx, { lock: true })
    await tx.db.update(tenants).set({ keepAuditDays: days }).where(eq(tenants.id, id))
    await recordChanges(tx, 'workspace.auditKept', { id, name }, differences({ days: keepAuditDays }, { days }))
    return { days }
  })
}
