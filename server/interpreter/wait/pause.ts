import { type ServiceContext, withTransaction } from '../../context'
import type { JsonObject } from '../../definition/json'
import type { Receipt } from '../../definition/run'
import { ImpossibleState } from '../../errors'
import type { Held } from '../../run-store/held'
import { pauseIdOf, type Visit, type WalkClaim, type WalkRef } from '../../run-store/names'
import type { StepRecordRow } from '../../run-store/walk-data'
import type { Asked } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
import { outputColumns } from '../flow/sizes'
import { valuesIn } from '../flow/step'
import { runToStop, STOPPED } from '../flow/stopping'
import type { WalkState } from '../flow/types'
import { dueBy } from '../notice/timers'
import type { NextStep } from '../plan/next-step'
import { waitFor } from '../plan/plan'
import { configOf, findWalkState, holdWalk, receiptOf } from '../plan/state'
import { carryOutCancel, stopAtOpen } from '../stop/cancel'
import { advance } from '../write/advance'
import { finishVisit, openPause } from '../write/held'
import { signalEngineWait } from '../write/request'
import { storeAnswer } from '../write/store-answer'
import { answerOf, findPause, type PauseRow, planAfter, withAnswer } from './answered'
import { lookForEvents } from './events'

/**
 * Makes the pause visible, in parallel with the engine's wait and never before it: a wait that starts after the answer
 * would miss the wake-up event. If the walk can already continue, this sends that event itself.
 */
export async function openForEngine(ctx: ServiceContext, ref: WalkClaim, pauseId: string): Promise<null> {
  const looks = await withTransaction(ctx, async (tx) => {
    const at = visitOf(ref, pauseId)
    const { held, found: locked } = await holdWalk(tx, ref, at)
    const wake = async () => {
      await signalEngineWait(tx, ref)
      return false
    }
    if ('stop' in locked) return wake()
    const { state, record } = locked
    if (!record) throw new ImpossibleState('pause-without-record', `${ref.runId} has no record of ${pauseId}`)
    const pause = await findPause(tx, ref, pauseId)
    if (record.endTime || pause?.answeredAt || state.run.cancelRequestedAt) return wake()
    if (!pause) return open(held, state, at, record)
    return pause.looked === false
  })
  if (looks) await lookForEvents(ctx, { ...ref, id: pauseId })
  return null
}

/** @returns whether it waits for an event and has not checked earlier events yet */
async function open(tx: Held, { ref, data }: WalkState, at: Visit, record: StepRecordRow): Promise<boolean> {
  const pause = { ...askedBy(record, data), ...at, id: pauseIdOf(ref.branch, at) }
  const { dueAt, event } = pause
  if (dueAt) tx.afterCommit(() => dueBy(dueAt))
  await openPause(tx, ref, pause)
  return event !== undefined
}

/** The question of a visit. Always the same, because the step's configuration and start are frozen. */
export function askedBy(record: StepRecordRow, data: JsonObject): Asked {
  const type = findStepType(record.stepType)
  if (type?.mode !== 'pause') throw new ImpossibleState('pause-of-no-pause', `${record.stepType} does not pause`)
  const { stepId, startTime } = record
  const config = configOf(record)
  const asked = type.ask({ stepId, config, data, now: startTime, values: valuesIn(config) })
  if (!('signal' in asked)) throw new ImpossibleState('pause-without-question', `${stepId} asks nothing`)
  return asked
}

/** When a visit expires; null if it waits indefinitely. */
export function dueOf(record: StepRecordRow): Date | null {
  return askedBy(record, {}).dueAt ?? null
}

/** After a wake-up or the end of a wait: continues with the answer, or waits again. */
export async function takeAnswer(
  ctx: ServiceContext,
  ref: WalkClaim,
  pauseId: string,
  arm: number,
  handoff: NextStep,
): Promise<Receipt> {
  const at = visitOf(ref, pauseId)
  // In this order: a cancel closes the pause and stops the walk in one commit, so reading the pause first never misses
  // a cancel.
  const pause = await answerIfDue(ctx, ref, await findPause(ctx, ref, pauseId))
  const found = await findWalkState(ctx, ref, at)
  if ('stop' in found) return found.stop
  const { record } = found
  if (!record) throw new ImpossibleState('answer-without-record', `${ref.runId} has no record of ${pauseId}`)
  if (record.endTime) return receiptOf(record)
  const moved = await advance(
    ctx,
    found.state,
    at,
    null,
    async (state) => {
      if (!pause?.answeredAt) return { receipt: waitFor(ctx, pauseId, arm + 1, pause?.dueAt ?? null) }
      const { step, plan } = await planAfter(ctx, state, record, pause, handoff)
      return { done: { claims: null, step }, plan }
    },
    async (tx, state, record) => {
      const pause = await findPause(tx, ref, pauseId)
      const given = pause?.answer && !('due' in pause.answer)
      return given ? stopAfterAnswer(tx, state, at, record, pause) : stopAtOpen(tx, state, at)
    },
  )
  handoff.give(moved.begun)
  return moved.receipt
}

/**
 * Answers an expired pause, unless a person has answered it in the meantime: under the run's lock, like a person's
 * answer.
 * @returns the pause as it is then
 */
async function answerIfDue(
  ctx: ServiceContext,
  ref: WalkClaim,
  pause: PauseRow | undefined,
): Promise<PauseRow | undefined> {
  if (!pause || pause.answeredAt || !pause.dueAt || pause.dueAt > ctx.now()) return pause
  // An event that arrived in time counts, even if it is delivered late.
  if (pause.eventName !== null) await lookForEvents(ctx, { ...ref, id: pause.id }, { until: pause.dueAt })
  return withTransaction(ctx, async (tx) => {
    const { held, found } = await holdWalk(tx, ref, pause)
    // Another engine run now has the walk, and answers.
    if ('state' in found) await storeAnswer(held, ref, pause.id, { due: true })
    return findPause(tx, ref, pause.id)
  })
}

/** The run was cancelled after the answer: the answer still counts, and nothing follows. */
async function stopAfterAnswer(
  tx: Held,
  state: WalkState,
  at: Visit,
  record: StepRecordRow,
  pause: PauseRow,
): Promise<Receipt> {
  const answered = answerOf(state, record, pause)
  const { delta, output, exit, next, failure } = answered
  const { receipt } = STOPPED
  const taken = { at, endedAt: tx.now(), ...outputColumns(output), delta, exit, pauseId: pause.id }
  await finishVisit(tx, state.ref, failure ? { ...taken, failure } : taken, receipt)
  await carryOutCancel(tx, runToStop(withAnswer(state, at, answered)), { ref: state.ref, next })
  return receipt
}

function visitOf(ref: WalkRef, pauseId: string): Visit {
  const rest = pauseId.slice(ref.branch.length + 1)
  const hash = rest.lastIndexOf('#')
  return { stepId: rest.slice(0, hash), visit: Number(rest.slice(hash + 1)) }
}
