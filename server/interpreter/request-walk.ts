import { and, eq, type SQL, sql } from 'drizzle-orm'
import { walks } from '@/db/schema/runs'
import type { TransactionContext } from '../context'
import { emit } from '../outbox'
import type { WalkRef } from '../run-store/names'

/** What changes with a request, so that a call made before it no longer counts. */
interface Change {
  segment?: SQL
  epoch?: SQL
  restarts?: SQL
}

/** Another engine run continues the walk. */
export const NEXT_SEGMENT = { segment: sql`${walks.segment} + 1` } as const satisfies Change
/** The walk continues from its last record, and anything an earlier call still does no longer counts. */
export const AGAIN = { epoch: sql`${walks.epoch} + 1` } as const satisfies Change

/**
 * Requests the one walk of a run that matches: the engine drives it once this commits.
 * @returns the walk as it was requested; null if none matches
 */
export async function requestWalk(
  tx: TransactionContext,
  { tenantId, runId }: Pick<WalkRef, 'tenantId' | 'runId'>,
  which: SQL | undefined,
  change: Change = {},
): Promise<WalkRef | null> {
  const [walk] = await tx.db
    .update(walks)
    .set({ status: 'requested', engineRunId: null, updatedAt: tx.now(), ...change })
    .where(and(eq(walks.tenantId, tenantId), eq(walks.runId, runId), which))
    .returning({ branch: walks.branch, epoch: walks.epoch, segment: walks.segment })
  if (!walk) return null
  const requested = { tenantId, runId, ...walk }
  await emit(tx, 'workflow/walk.requested', requested)
  return requested
}
