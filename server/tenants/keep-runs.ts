import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { tenants } from '@/db/schema/tenants'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { parseInput } from '../parse'

const MOST_DAYS = 3_650

const KeepRuns = z.object({
  days: z.number('must be a whole number').int('must be a whole number').min(1).max(MOST_DAYS).nullable(),
})

/**
 * Sets how many days runs are kept after their end; null for ever. The sweep deletes older ones from now on.
 * @throws AppError INVALID_INPUT, NOT_FOUND, FORBIDDEN
 */
export async function keepRuns(ctx: ServiceContext, input: unknown): Promise<{ days: number | null }> {
  authorize(ctx, 'run:delete')
  const { days } = parseInput(KeepRuns, input)
  const [row] = await ctx.db
    .update(tenants)
    .set({ keepRunsDays: days })
    .where(eq(tenants.id, ctx.tenantId))
    .returning({ days: tenants.keepRunsDays })
  if (!row) throw new AppError('NOT_FOUND', { message: 'Tenant not found' })
  return row
}
