import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { tenants } from '@/db/schema/tenants'
import { recordChanges } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { differences } from '../definition/audit'
import { parseInput } from '../parse'
import { getTenant } from './find'

const MAX_DAYS = 3_650

const KeepRuns = z.object({
  days: z.number('must be a whole number').int('must be a whole number').min(1).max(MAX_DAYS).nullable(),
})

/**
 * Sets how many days runs are retained after their end; `null` means forever. The sweep deletes older ones from now on.
 * @throws AppError INVALID_INPUT, NOT_FOUND, FORBIDDEN
 */
export async function keepRuns(ctx: ServiceContext, input: unknown): Promise<{ days: number | null }> {
  authorize(ctx, 'run:delete')
  const { days } = parseInput(KeepRuns, input)
  return withTransaction(ctx, async (tx) => {
    const { id, name, keepRunsDays } = await getTenant(tx, { lock: true })
    await tx.db.update(tenants).set({ keepRunsDays: days }).where(eq(tenants.id, id))
    await recordChanges(tx, 'workspace.runsKept', { id, name }, differences({ days: keepRunsDays }, { days }))
    return { days }
  })
}
