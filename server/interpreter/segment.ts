import { and, eq } from 'drizzle-orm'
import { walks } from '@/db/schema/runs'
import { type ServiceContext, withTransaction } from '../context'
import type { Receipt } from '../definition/run'
import { emit } from '../outbox'
import { readLocked } from './place'
import type { WalkClaim } from './receipt'

/** Hands the walk over to a new engine run, which continues at the open record. */
export async function requestSegment(ctx: ServiceContext, claim: WalkClaim): Promise<Receipt> {
  const { engineRunId, ...ref } = claim
  return withTransaction(ctx, async (tx) => {
    const next = { ...ref, segment: ref.segment + 1 }
    const move = tx.db
      .update(walks)
      .set({ status: 'requested', segment: next.segment, engineRunId: null, updatedAt: tx.now() })
      .where(
        and(
          eq(walks.tenantId, ref.tenantId),
          eq(walks.runId, ref.runId),
          eq(walks.branch, ref.branch),
          eq(walks.epoch, ref.epoch),
          eq(walks.segment, ref.segment),
          eq(walks.status, 'walking'),
          eq(walks.engineRunId, engineRunId),
        ),
      )
      .returning({ branch: walks.branch })
    // Under the run's lock like every other change: a record that is being written would miss it otherwise.
    const moved = await readLocked(tx, ref, move)
    if (moved.length > 0) await emit(tx, 'workflow/walk.requested', next)
    return { stop: moved.length > 0 ? 'handed-over' : 'superseded' }
  })
}
