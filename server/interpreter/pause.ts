import { and, eq, isNull } from 'drizzle-orm'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { nextStep } from '../definition/next-step'
import type { Receipt } from '../definition/run'
import { ImpossibleState } from '../errors'
import { emit } from '../outbox'
import { findStepType } from '../steps/registry'
import { announceRun } from './announce'
import { type Entered, enter, outputColumns } from './enter'
import { configOf, lockPlace, type Place, recordIs, type StepRecordRow } from './place'
import { pauseIdOf, type Visit, type WalkClaim, type WalkRef } from './receipt'
import { addToData } from './size'
import { cancellationOf, isCancelling, STOPPED, settleCancel, stopFailure } from './stop'
import { type Handoff, receiptOf } from './visit'

/**
 * Makes the pause visible, in parallel with the engine's wait and never before it: a wait that starts after the answer
 * would miss the wake-up event. If there is already something to continue with, this sends that event itself.
 */
export async function armPause(ctx: ServiceContext, ref: WalkClaim, pauseId: string): Promise<null> {
  await withTransaction(ctx, async (tx) => {
    const at = visitOf(ref, pauseId)
    const locked = await lockPlace(tx, ref, at)
    const wake = () => emit(tx, 'workflow/run.woken', { tenantId: ref.tenantId, runId: ref.runId })
    if ('stop' in locked) return wake()
    const { place, record } = locked
    if (!record) throw new ImpossibleState('pause-without-record', `${ref.runId} has no record of ${pauseId}`)
    const pause = await findPause(tx, ref, pauseId)
    if (record.endTime || pause?.answeredAt || place.run.cancelRequestedAt) return wake()
    if (!pause) await openPause(tx, place, at, record)
    return undefined
  })
  return null
}

async function openPause(tx: TransactionContext, place: Place, at: Visit, record: StepRecordRow): Promise<void> {
  const type = findStepType(record.stepType)
  if (type?.mode !== 'pause') throw new ImpossibleState('pause-of-no-pause', `${record.stepType} does not pause`)
  const asked = type.ask({ stepId: at.stepId, config: configOf(record), data: place.data })
  if (!('signal' in asked)) throw new ImpossibleState('pause-without-question', `${record.stepId} asks nothing`)
  const { tenantId, runId, branch } = place.ref
  const now = tx.now()
  await tx.db.insert(pauses).values({
    tenantId,
    id: pauseIdOf(branch, at),
    runId,
    branch,
    stepId: at.stepId,
    visit: at.visit,
    kind: asked.signal.type,
    signal: asked.signal,
    createdAt: now,
  })
  await tx.db
    .update(runs)
    .set({ status: 'paused', currentStepId: at.stepId, updatedAt: now })
    .where(and(eq(runs.tenantId, tenantId), eq(runs.id, runId)))
  await announceRun(tx, runId)
}

/** After a wake-up or the end of a wait: takes the answer and continues, or waits again. */
export async function takeAnswer(
  ctx: ServiceContext,
  ref: WalkClaim,
  pauseId: string,
  arm: number,
  handoff: Handoff,
): Promise<Receipt> {
  const entered = await withTransaction(ctx, async (tx) => {
    const at = visitOf(ref, pauseId)
    const locked = await lockPlace(tx, ref, at)
    if ('stop' in locked) return { receipt: locked.stop, begun: null }
    const { place, record } = locked
    if (!record) throw new ImpossibleState('answer-without-record', `${ref.runId} has no record of ${pauseId}`)
    if (record.endTime) return { receipt: receiptOf(record), begun: null }
    const pause = await findPause(tx, ref, pauseId)
    if (!pause?.answeredAt) {
      if (isCancelling(place)) return cancelPause(tx, place, at)
      return { receipt: { wait: { pauseId, arm: arm + 1, dueAt: null } } satisfies Receipt, begun: null }
    }

    const type = findStepType(record.stepType)
    if (type?.mode !== 'pause') throw new ImpossibleState('answer-of-no-pause', `${record.stepType} does not pause`)
    if (pause.answer === null) throw new ImpossibleState('answer-of-nothing', `${pauseId} was answered with nothing`)
    const { output, delta } = type.answer({
      stepId: at.stepId,
      config: configOf(record),
      answer: pause.answer,
    })
    const now = tx.now()
    place.data = addToData(place.data, delta)
    place.outputs[at.stepId] = output
    const next = nextStep(place.definition, at.stepId, 'next')
    const cancelling = isCancelling(place)
    const result = cancelling ? STOPPED : await enter(tx, place, next, handoff.attempt)
    await tx.db
      .update(stepRecords)
      .set({ status: 'completed', endTime: now, ...outputColumns(output), delta, receipt: result.receipt })
      .where(recordIs({ place, at }))
    await tx.db
      .update(pauses)
      .set({ consumedAt: now })
      .where(and(pauseIs(ref, pauseId), isNull(pauses.consumedAt)))
    if (cancelling) await settleCancel(tx, place, { ref, next })
    return result
  })
  handoff.give(entered.begun)
  return entered.receipt
}

/** The run was cancelled while this walk waited for a person. */
async function cancelPause(tx: TransactionContext, place: Place, at: Visit): Promise<Entered> {
  const { code, message } = stopFailure(cancellationOf(place.run))
  await tx.db
    .update(stepRecords)
    .set({
      status: 'failed',
      endTime: tx.now(),
      outputData: {},
      error: message,
      errorCode: code,
      receipt: STOPPED.receipt,
    })
    .where(recordIs({ place, at }))
  await settleCancel(tx, place, { ref: place.ref, next: null })
  return STOPPED
}

async function findPause(tx: TransactionContext, ref: WalkRef, pauseId: string) {
  const [pause] = await tx.db.select().from(pauses).where(pauseIs(ref, pauseId))
  return pause
}

function pauseIs(ref: WalkRef, pauseId: string) {
  return and(eq(pauses.tenantId, ref.tenantId), eq(pauses.runId, ref.runId), eq(pauses.id, pauseId))
}

function visitOf(ref: WalkRef, pauseId: string): Visit {
  const rest = pauseId.slice(ref.branch.length + 1)
  const hash = rest.lastIndexOf('#')
  return { stepId: rest.slice(0, hash), visit: Number(rest.slice(hash + 1)) }
}
