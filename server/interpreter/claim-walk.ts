import { and, desc, eq } from 'drizzle-orm'
import { runs, stepRecords, walks } from '@/db/schema/runs'
import { type ServiceContext, withTransaction } from '../context'
import type { Receipt } from '../definition/run'
import { ImpossibleState } from '../errors'
import { findStepType } from '../steps/registry'
import { MOST_TRIES } from './advance'
import { takeBegan } from './began'
import { commitPlan } from './commit'
import { pinnedDefinition } from './pinned-definition'
import { lockRun, type Place, type StepRecordRow } from './place'
import { type Plan, planFrom } from './plan'
import { pauseIdOf, type WalkRef } from './receipt'
import { isCancelling, STOPPED, settleCancel } from './stop'
import type { Handoff } from './visit'

/**
 * The walk's first step: one engine run claims the segment, and any later one is superseded. Continues where the records
 * say the walk is, or at its first step.
 */
export async function claimWalk(
  ctx: ServiceContext,
  ref: WalkRef,
  engineRunId: string,
  handoff: Handoff,
): Promise<Receipt> {
  const began = takeBegan(engineRunId)
  if (began) {
    handoff.give(began.begun)
    return began.receipt
  }
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const found = await findWalk(ctx, ref, engineRunId)
    if ('stop' in found) return found
    const { place, stepId, open } = found
    if (!isCancelling(place)) {
      const plan = open ? continuing(ref, open) : await planFrom(ctx, place, stepId, handoff.attempt)
      if (await commitPlan(ctx, place.ref, { claimed: true }, plan)) {
        handoff.give(plan.begun)
        return plan.receipt
      }
    }
    const receipt = await claimToStop(ctx, ref, engineRunId)
    if (receipt) return receipt
  }
  throw new ImpossibleState('claim-refused', `${ref.runId} cannot be claimed, and nothing says why`)
}

/** Where a walk stands that this engine run may claim. */
async function findWalk(
  ctx: ServiceContext,
  ref: WalkRef,
  engineRunId: string,
): Promise<Extract<Receipt, { stop: string }> | { place: Place; stepId: string; open: StepRecordRow | null }> {
  const ofRecords = and(
    eq(stepRecords.tenantId, ref.tenantId),
    eq(stepRecords.runId, ref.runId),
    eq(stepRecords.branch, ref.branch),
  )
  const [[found], [last]] = await Promise.all([
    ctx.db
      .select({ run: runs, walk: walks })
      .from(runs)
      .innerJoin(walks, and(eq(walks.tenantId, runs.tenantId), eq(walks.runId, runs.id), eq(walks.branch, ref.branch)))
      .where(and(eq(runs.tenantId, ref.tenantId), eq(runs.id, ref.runId))),
    ctx.db.select().from(stepRecords).where(ofRecords).orderBy(desc(stepRecords.seq)).limit(1),
  ])
  if (!found || found.run.endTime) return { stop: 'ended' }
  const { run, walk } = found
  const claimable = walk.status === 'requested' || (walk.status === 'walking' && walk.engineRunId === engineRunId)
  if (walk.epoch !== ref.epoch || walk.segment !== ref.segment || !claimable) return { stop: 'superseded' }
  const definition = await pinnedDefinition(ctx, run.workflowId, run.workflowVersion)
  return {
    place: { run, ref: { ...ref, engineRunId }, definition, data: run.data, outputs: {} },
    stepId: walk.stepId,
    open: last && last.endTime === null ? last : null,
  }
}

/** The claim of a walk whose last record is open: the step goes on, or waits again. */
function continuing(ref: WalkRef, open: StepRecordRow): Plan {
  const at = { stepId: open.stepId, visit: open.visit }
  const waits = findStepType(open.stepType)?.mode === 'pause'
  const receipt: Receipt = waits ? { wait: { pauseId: pauseIdOf(ref.branch, at), arm: 0, dueAt: null } } : { next: at }
  return { records: [], data: null, stepId: null, ending: null, receipt, begun: null }
}

/** The claim of a walk whose run is being cancelled. Null if it is not, so the refused claim may be tried again. */
async function claimToStop(ctx: ServiceContext, ref: WalkRef, engineRunId: string): Promise<Receipt | null> {
  return withTransaction<Receipt | null>(ctx, async (tx) => {
    await lockRun(tx, ref)
    const found = await findWalk(tx, ref, engineRunId)
    if ('stop' in found) return found
    const { place, stepId, open } = found
    if (!isCancelling(place)) return null
    await tx.db
      .update(walks)
      .set({ status: 'walking', engineRunId, updatedAt: tx.now() })
      .where(and(eq(walks.tenantId, ref.tenantId), eq(walks.runId, ref.runId), eq(walks.branch, ref.branch)))
    if (open) return continuing(ref, open).receipt
    // There are no records yet, or only those of the run this one retries.
    await settleCancel(tx, place, { ref, next: stepId })
    return STOPPED.receipt
  })
}
