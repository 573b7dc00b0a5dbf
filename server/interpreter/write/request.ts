import { and, eq, type SQL, sql } from 'drizzle-orm'
import { walks } from '@/db/schema/runs'
import type { ServiceContext, TransactionContext } from '../../context'
import { isBranch } from '../../definition/branches'
import { emit } from '../../outbox'
import { walkIs } from '../../run-store/conditions'
import type { Held } from '../../run-store/held'
import type { WalkRef } from '../../run-store/names'

/** The changes of a request that make an earlier call no longer count. */
interface Change {
  segment?: SQL
  epoch?: SQL
  restarts?: SQL
}

/** Another engine run continues the walk. */
export const NEXT_SEGMENT = { segment: sql`${walks.segment} + 1` } as const satisfies Change
/** The walk continues from its last record, and an earlier call's work no longer counts. */
export const NEW_EPOCH = { epoch: sql`${walks.epoch} + 1` } as const satisfies Change

/**
 * Requests the one walk of a run that matches: the engine drives it once this commits.
 * @returns the requested walk; null if none matches
 */
export async function requestWalk(
  tx: Held,
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

type Walk = Pick<WalkRef, 'tenantId' | 'runId' | 'branch'>

/**
 * Continues the walk of an answered pause: in a new segment with a new engine run, or, if an engine run waits for the
 * answer, by waking that one.
 */
export async function continueWalk(tx: Held, walk: Walk): Promise<void> {
  const resting = and(walkIs(walk), eq(walks.status, 'resting'))
  if (!(await requestWalk(tx, walk, resting, NEXT_SEGMENT))) await signalEngineWait(tx, walk)
}

/** Wakes the engine run that waits for a walk, if one does. */
export async function signalEngineWait(ctx: ServiceContext, { tenantId, runId, branch }: Walk): Promise<void> {
  const walk = isBranch(branch) ? { walk: walkNameOf(runId, branch) } : {}
  await emit(ctx, 'workflow/run.woken', { tenantId, runId, ...walk })
}

/** Wakes the engine runs of several walks. Otherwise those that wait for an answer would wait forever. */
export async function signalEngineWaits(
  tx: TransactionContext,
  run: { tenantId: string; id: string },
  branches: readonly string[],
): Promise<void> {
  for (const branch of new Set(branches)) await signalEngineWait(tx, { tenantId: run.tenantId, runId: run.id, branch })
}

/** The key that wakes the wait of a branch. Other walks are woken by the id of their run alone. */
export function walkNameOf(runId: string, branch: string): string {
  return `${runId}/${branch}`
}
