import { and, desc, eq } from 'drizzle-orm'
import { runs, stepRecords, walks } from '@/db/schema/runs'
import { type ServiceContext, withTransaction } from '../context'
import type { Receipt } from '../definition/run'
import { findStepType } from '../steps/registry'
import { enter } from './enter'
import { pinnedDefinition } from './pinned-definition'
import { type Place, readLocked } from './place'
import { pauseIdOf, type WalkRef } from './receipt'
import { isCancelling, settleCancel } from './stop'
import type { Handoff } from './visit'

/**
 * The walk's first step: one engine run claims the segment; any other one is superseded. Continues where the records
 * say the walk is, or at its first step.
 */
export async function claimWalk(
  ctx: ServiceContext,
  ref: WalkRef,
  engineRunId: string,
  handoff: Handoff,
): Promise<Receipt> {
  const entered = await withTransaction(ctx, async (tx) => {
    const read = tx.db
      .select({ run: runs, walk: walks })
      .from(runs)
      .innerJoin(walks, and(eq(walks.tenantId, runs.tenantId), eq(walks.runId, runs.id), eq(walks.branch, ref.branch)))
      .where(and(eq(runs.tenantId, ref.tenantId), eq(runs.id, ref.runId)))
    const [found] = await readLocked(tx, ref, read)
    if (!found || found.run.endTime) return { receipt: { stop: 'ended' } satisfies Receipt, begun: null }
    const { run, walk } = found
    const mine = walk.status === 'walking' && walk.engineRunId === engineRunId
    if (walk.epoch !== ref.epoch || walk.segment !== ref.segment || !(walk.status === 'requested' || mine)) {
      return { receipt: { stop: 'superseded' } satisfies Receipt, begun: null }
    }
    await tx.db
      .update(walks)
      .set({ status: 'walking', engineRunId, updatedAt: tx.now() })
      .where(and(eq(walks.tenantId, ref.tenantId), eq(walks.runId, ref.runId), eq(walks.branch, ref.branch)))
    const [last] = await tx.db
      .select()
      .from(stepRecords)
      .where(
        and(
          eq(stepRecords.tenantId, ref.tenantId),
          eq(stepRecords.runId, ref.runId),
          eq(stepRecords.branch, ref.branch),
        ),
      )
      .orderBy(desc(stepRecords.seq))
      .limit(1)
    const definition = await pinnedDefinition(tx, run.workflowId, run.workflowVersion)
    const place: Place = { run, ref: { ...ref, engineRunId }, definition, data: run.data, outputs: {} }
    if (last && last.endTime === null) {
      const at = { stepId: last.stepId, visit: last.visit }
      const waits = findStepType(last.stepType)?.mode === 'pause'
      const receipt: Receipt = waits
        ? { wait: { pauseId: pauseIdOf(ref.branch, at), arm: 0, dueAt: null } }
        : { next: at }
      return { receipt, begun: null }
    }
    // There are no records yet, or only those of the run this one retries.
    if (isCancelling(place)) {
      await settleCancel(tx, place, { ref, next: walk.stepId })
      return { receipt: { stop: 'ended' } satisfies Receipt, begun: null }
    }
    return enter(tx, place, walk.stepId, handoff.attempt)
  })
  handoff.give(entered.begun)
  return entered.receipt
}
