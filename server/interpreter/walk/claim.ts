import { and, desc, eq, sql } from 'drizzle-orm'
import { runs, stepRecords, walks } from '@/db/schema/runs'
import { type ServiceContext, withTransaction } from '../../context'
import { isBranch } from '../../definition/branches'
import type { Receipt } from '../../definition/run'
import { ImpossibleState } from '../../errors'
import { definitionOf } from '../../run-store/definition'
import { hold } from '../../run-store/held'
import { pauseIdOf, type Visit, type WalkRef } from '../../run-store/names'
import { dataOf, ownsOf, RUN_COLUMNS, type StepRecordRow, walkData } from '../../run-store/walk-data'
import { findStepType } from '../../steps/registry'
import { isCancelling, runToStop, STOPPED } from '../flow/stopping'
import type { WalkState } from '../flow/types'
import { planJoined } from '../fork/join'
import type { NextStep } from '../plan/next-step'
import { NOTHING, planFrom, waitFor } from '../plan/plan'
import type { DoneStep, Drive, Plan } from '../plan/types'
import { popQueued } from '../recall/queued'
import { forget } from '../recall/run'
import { carryOutCancel } from '../stop/cancel'
import { planAnswered } from '../wait/answered'
import { dueOf } from '../wait/pause'
import { MAX_TRIES } from '../write/advance'
import { takeClaimed } from '../write/claimed-start'
import { CURSOR_USED, commitPlan } from '../write/commit'
import { moveWalk } from '../write/held'

/**
 * The walk's first step, and every step in which it only continues planning (`go`): one engine run claims the segment,
 * and any later one is superseded. Continues where the records say the walk is, or at its first step.
 */
export async function claimWalk(
  ctx: ServiceContext,
  ref: WalkRef,
  engineRunId: string,
  handoff: NextStep,
): Promise<Receipt> {
  const began = takeClaimed(engineRunId)
  if (began) {
    handoff.give(began.begun)
    return began.receipt
  }
  let known = await queuedHere(ctx, ref, engineRunId)
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    // Another process may have driven it in the meantime.
    if (!known) forget(ref.runId)
    const found = known ?? (await findWalk(ctx, ref, engineRunId))
    known = null
    if ('stop' in found) return found
    const { state, cursor, open, arrived } = found
    // The walk was read after a commit, but its record before it: read again.
    if (!open && !arrived && cursor.visit === CURSOR_USED) continue
    if (!isCancelling(state)) {
      const { step, plan } = arrived
        ? { step: null, plan: { ...NOTHING, receipt: { arrive: true as const } } }
        : open
          ? await continuing(ctx, state, open, handoff)
          : { step: null, plan: await planFrom(ctx, state, cursor.stepId || null, handoff) }
      const done = { claims: 'requested' as const, step, ...(open || arrived ? {} : { cursor }) }
      if (await commitPlan(ctx, state.ref, done, plan)) {
        handoff.give(plan.begun)
        return plan.receipt
      }
    }
    const receipt = await claimToStop(ctx, ref, engineRunId)
    if (receipt) return receipt
  }
  throw new ImpossibleState('claim-refused', `${ref.runId} cannot be claimed, and nothing says why`)
}

interface WalkPosition {
  state: WalkState
  cursor: Visit
  /** The record of the step that the walk is at; without one, its cursor locates it. */
  open: StepRecordRow | null
  /** It is a branch that has ended but is not counted at its fork yet. */
  arrived: boolean
}

/** The position of a walk, if this process started its run and nothing has changed it since. */
async function queuedHere(ctx: ServiceContext, ref: WalkRef, engineRunId: string): Promise<WalkPosition | null> {
  const found = popQueued(engineRunId)
  if (!found || found.run.currentStepId === null) return null
  const { run, data } = found
  const definition = await definitionOf(ctx, run)
  const walked = { ...dataOf({ data, refs: run.dataRefs ?? {} }, null), outputs: {}, visits: {} }
  const state = { run, ref: { ...ref, engineRunId }, definition, ...walked }
  return { state, cursor: { stepId: found.run.currentStepId, visit: 1 }, open: null, arrived: false }
}

/** The position of a walk, if this engine run may claim it. */
async function findWalk(
  ctx: ServiceContext,
  ref: WalkRef,
  engineRunId: string,
): Promise<Extract<Receipt, { stop: string }> | WalkPosition> {
  const ofRecords = and(
    eq(stepRecords.tenantId, ref.tenantId),
    eq(stepRecords.runId, ref.runId),
    eq(stepRecords.branch, ref.branch),
  )
  // A branch has few records among many of its run, so sort them rather than search all of the run's.
  const newestFirst = isBranch(ref.branch) ? sql`${stepRecords.seq} + 0 desc` : desc(stepRecords.seq)
  const [[found], [last]] = await Promise.all([
    ctx.db
      .select({ run: RUN_COLUMNS, small: runs.smallData, walk: walks, owns: ownsOf(ref) })
      .from(runs)
      .innerJoin(walks, and(eq(walks.tenantId, runs.tenantId), eq(walks.runId, runs.id), eq(walks.branch, ref.branch)))
      .where(and(eq(runs.tenantId, ref.tenantId), eq(runs.id, ref.runId))),
    ctx.db.select().from(stepRecords).where(ofRecords).orderBy(newestFirst).limit(1),
  ])
  if (!found || found.run.endTime) return { stop: 'ended' }
  const { run, walk } = found
  const claimable = walk.status === 'requested' || (walk.status === 'walking' && walk.engineRunId === engineRunId)
  if (walk.epoch !== ref.epoch || walk.segment !== ref.segment || !claimable) return { stop: 'superseded' }
  const definition = await definitionOf(ctx, run)
  return {
    state: {
      run,
      ref: { ...ref, engineRunId },
      definition,
      ...(await walkData(ctx, ref, found)),
      outputs: {},
      visits: null,
    },
    cursor: { stepId: walk.stepId, visit: walk.visit },
    open: last && last.endTime === null ? last : null,
    arrived: walk.arrival !== null,
  }
}

/** The claim of a walk whose last record is open: its pause was answered, it waits again, or the step continues. */
async function continuing(
  ctx: ServiceContext,
  state: WalkState,
  open: StepRecordRow,
  drive: Drive,
): Promise<{ step: DoneStep | null; plan: Plan }> {
  const mode = findStepType(open.stepType)?.mode
  const followed =
    mode === 'fork'
      ? await planJoined(ctx, state, open, drive)
      : mode === 'pause' && drive.rests
        ? await planAnswered(ctx, state, open, drive)
        : null
  return followed ?? { step: null, plan: staying(ctx, state.ref, open) }
}

/** Nothing follows from the claim itself. */
function staying(ctx: ServiceContext, ref: WalkRef, open: StepRecordRow): Plan {
  const at = { stepId: open.stepId, visit: open.visit }
  return { ...NOTHING, receipt: receiptAt(ctx, ref, open, at) }
}

function receiptAt(ctx: ServiceContext, { branch }: WalkRef, open: StepRecordRow, at: Visit): Receipt {
  const mode = findStepType(open.stepType)?.mode
  if (mode === 'pause') return waitFor(ctx, pauseIdOf(branch, at), 0, dueOf(open))
  return mode === 'fork' ? { fork: at } : { next: at }
}

/** The claim of a walk whose run is being cancelled. Null if it is not, so the refused claim may be retried. */
async function claimToStop(ctx: ServiceContext, ref: WalkRef, engineRunId: string): Promise<Receipt | null> {
  return withTransaction<Receipt | null>(ctx, async (transaction) => {
    const tx = await hold(transaction, ref)
    const found = await findWalk(tx, ref, engineRunId)
    if ('stop' in found) return found
    const { state, cursor, open, arrived } = found
    if (!isCancelling(state)) return null
    await moveWalk(tx, ref, { status: 'walking', engineRunId })
    if (open) return staying(tx, ref, open).receipt
    if (arrived) return { arrive: true }
    // No records exist yet, or only those of the run that this one retries.
    await carryOutCancel(tx, runToStop(state), { ref, next: cursor.stepId || null })
    return STOPPED.receipt
  })
}
