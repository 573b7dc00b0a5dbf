import { and, eq, sql } from 'drizzle-orm'
import { walks } from '@/db/schema/runs'
import type { TransactionContext } from '../context'
import { emit } from '../outbox'

/**
 * Has the walk of an answered pause go on: a resting one in a new segment, under an engine run of its own. Where an engine
 * run waits for the answer, it is woken.
 */
export async function wakeWalk(
  tx: TransactionContext,
  { tenantId, runId, branch }: { tenantId: string; runId: string; branch: string },
): Promise<void> {
  const [walk] = await tx.db
    .update(walks)
    .set({ status: 'requested', segment: sql`${walks.segment} + 1`, updatedAt: tx.now() })
    .where(
      and(eq(walks.tenantId, tenantId), eq(walks.runId, runId), eq(walks.branch, branch), eq(walks.status, 'resting')),
    )
    .returning({ epoch: walks.epoch, segment: walks.segment })
  if (walk) await emit(tx, 'workflow/walk.requested', { tenantId, runId, branch, ...walk })
  else await emit(tx, 'workflow/run.woken', { tenantId, runId })
}
