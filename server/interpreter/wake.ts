import { and, eq } from 'drizzle-orm'
import { walks } from '@/db/schema/runs'
import type { ServiceContext, TransactionContext } from '../context'
import { isBranch } from '../definition/branches'
import { emit } from '../outbox'
import { walkIs } from '../run-store/conditions'
import type { WalkRef } from '../run-store/names'
import { NEXT_SEGMENT, requestWalk } from './request-walk'

type Walk = Pick<WalkRef, 'tenantId' | 'runId' | 'branch'>

/**
 * Continues the walk of an answered pause: in a new segment with a new engine run, or, if an engine run waits for the
 * answer, by waking that one.
 */
export async function wakeWalk(tx: TransactionContext, walk: Walk): Promise<void> {
  const resting = and(walkIs(walk), eq(walks.status, 'resting'))
  if (!(await requestWalk(tx, walk, resting, NEXT_SEGMENT))) await wakeWait(tx, walk)
}

/** Wakes the engine run that waits for a walk, if one does. */
export async function wakeWait(ctx: ServiceContext, { tenantId, runId, branch }: Walk): Promise<void> {
  const walk = isBranch(branch) ? { walk: walkNameOf(runId, branch) } : {}
  await emit(ctx, 'workflow/run.woken', { tenantId, runId, ...walk })
}

/** Wakes the engine runs of several walks. Otherwise those that wait for an answer would wait forever. */
export async function wakeWaits(
  tx: TransactionContext,
  run: { tenantId: string; id: string },
  branches: readonly string[],
): Promise<void> {
  for (const branch of new Set(branches)) await wakeWait(tx, { tenantId: run.tenantId, runId: run.id, branch })
}

/** The key that wakes the wait of a branch. Other walks are woken by the id of their run alone. */
export function walkNameOf(runId: string, branch: string): string {
  return `${runId}/${branch}`
}
