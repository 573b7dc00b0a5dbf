import { and, eq, type SQL, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import type { TransactionContext } from '../context'
import { AppError } from '../errors'

/** Whether a later run repeats it: a second request must not do everything twice. */
export const isRepeated: SQL<boolean> = sql<boolean>`exists (
  select 1 from runs again where again.tenant_id = runs.tenant_id and again.retry_of = runs.id)`

/** In a transaction that has locked the run, so that the later of two concurrent repeats finds the other's. */
export async function refuseRepeated(tx: TransactionContext, runId: string): Promise<void> {
  const [run] = await tx.db
    .select({ again: isRepeated })
    .from(runs)
    .where(and(eq(runs.tenantId, tx.tenantId), eq(runs.id, runId)))
  if (run?.again) throw new AppError('CONFLICT', { message: 'The run was repeated before' })
}
