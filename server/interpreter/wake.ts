import { and, eq, sql } from 'drizzle-orm'
import { walks } from '@/db/schema/runs'
import type { TransactionContext } from '../context'
import { isBranch } from '../definition/branches'
import { emit } from '../outbox'

interface Walk {
  tenantId: string
  runId: string
  branch: string
}

/**
 * Has the walk of an answered pause go on: a resting one in a new segment, under an engine run of its own. Where an engine
 * run waits for the answer, it is woken.
 */
export async function wakeWalk(tx: TransactionContext, { tenantId, runId, branch }: Walk): Promise<void> {
  const [walk] = await tx.db
    .update(walks)
    .set({ status: 'requested', segment: sql`${walks.segment} + 1`, updatedAt: tx.now() })
    .where(
      and(eq(walks.tenantId, tenantId), eq(walks.runId, runId), eq(walks.branch, branch), eq(walks.status, 'resting')),
    )
    .returning({ epoch: walks.epoch, segment: walks.segment })
  if (walk) await emit(tx, 'workflow/walk.requested', { tenantId, runId, branch, ...walk })
  else await wakeWait(tx, { tenantId, runId, branch })
}

/** Wakes the engine run that waits for a walk, if one does. */
export async function wakeWait(ctx: Parameters<typeof emit>[0], { tenantId, runId, branch }: Walk): Promise<void> {
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

/** What the wait of a branch is woken by. Other walks are woken by the id of their run alone. */
export function walkNameOf(runId: string, branch: string): string {
  return `${runId}/${branch}`
}
