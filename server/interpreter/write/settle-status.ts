import { and, isNull, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { asksSomebody, isRun } from '../../run-store/conditions'
import type { Held } from '../../run-store/held'

/** Call when a pause closes: the run stays paused as long as another pause asks a person. */
export async function settleStatus(tx: Held, ref: { tenantId: string; runId: string }): Promise<'paused' | 'running'> {
  const [run] = await tx.db
    .update(runs)
    .set({ status: sql`case when ${asksSomebody(ref)} then 'paused' else 'running' end`, updatedAt: tx.now() })
    .where(and(isRun({ tenantId: ref.tenantId, id: ref.runId }), isNull(runs.endTime)))
    .returning({ status: runs.status })
  return run?.status === 'paused' ? 'paused' : 'running'
}
