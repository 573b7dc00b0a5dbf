import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { tenants } from '@/db/schema/tenants'
import { recordChanges } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { differences } from '../definition/audit'
import { unstorable } from '../definition/json'
import { parseInput } from '../parse'
import { getTenant } from './find'

const SetTenantName = z.object({
  name: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .refine((text) => unstorable(text) === null, 'is not valid text'),
})

/**
 * Renames the tenant. The slug stays, so its addresses keep working.
 * @throws AppError INVALID_INPUT, NOT_FOUND
 */
export async function setTenantName(ctx: ServiceContext, input: unknown): Promise<{ name: string }> {
  authorize(ctx, 'settings:manage')
  const { name } = parseInput(SetTenantName, input)
  return withTransaction(ctx, async (tx) => {
    const old = await getTenant(tx, { lock: true })
    await tx.db.update(tenants).set({ name }).where(eq(tenants.id, tx.tenantId))
    await recordChanges(tx, 'workspace.renamed', { id: tx.tenantId, name }, differences({ name: old.name }, { name }))
    return { name }
  })
}
