import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { tenants } from '@/db/schema/tenants'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { unstorable } from '../definition/json'
import { AppError } from '../errors'
import { parseInput } from '../parse'

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
  const [row] = await ctx.db
    .update(tenants)
    .set({ name })
    .where(eq(tenants.id, ctx.tenantId))
    .returning({ name: tenants.name })
  if (!row) throw new AppError('NOT_FOUND', { message: 'Tenant not found' })
  return row
}
