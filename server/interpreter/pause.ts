import { and, eq, isNull } from 'drizzle-orm'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { inStoredOrder, type JsonObject } from '../definition/json'
import type { Failing, Receipt } from '../definition/run'
import { ImpossibleState, StepFailure } from '../errors'
import { emit } from '../outbox'
import { pauseIs, recordIs } from '../run-store/conditions'
import { pauseIdOf, type Visit, type WalkClaim, type WalkRef } from '../run-store/names'
import type { StepRecordRow } from '../run-store/walk-data'
import type { Asked } from '../steps/define-step'
import { findStepType } from '../steps/registry'
import { advance } from './advance'
import { announceRun } from './announce'
import type { Ending } from './close'
import type { DoneStep } from './done'
import { dueBy } from './due-timer'
import { catching, exitOfAnswer, TIMED_OUT } from './exits'
import { lookForEvents } from './look-for-events'
import { failed, outputColumns } from './output'
import { type Drive, type Plan, planEnd, planFrom, waitFor } from './plan'
import { kindOf } from './rows'
import { withDelta } from './size'
import { valuesIn } from './step'
import { heldBy, STOPPED, settleCancel } from './stop'
import { stopAtOpen } from './stop-at-open'
import { storeAnswer } from './store-answer'
import type { Handoff } from './visit'
import { wakeWait } from './wake'
import {
  configOf,
  findWalkState,
  lockRun,
  lockWalkState,
  type OpenRecord,
  receiptOf,
  type WalkState,
} from './walk-state'

type PauseRow = typeof pauses.$inferSelect

/**
 * Makes the pause visible, in parallel with the engine's wait and never before it: a wait that starts after the answer
 * would miss the wake-up event. If there is already something to continue with, this sends that event itself.
 */
export async function armPause(ctx: ServiceContext, ref: WalkClaim, pauseId: string): Promise<null> {
  const looks = await withTransaction(ctx, async (tx) => {
    const at = visitOf(ref, pauseId)
    const locked = await lockWalkState(tx, ref, at)
    const wake = async () => {
      await wakeWait(tx, ref)
      return false
    }
    if ('stop' in locked) return wake()
    const { state, record } = locked
    if (!record) throw new ImpossibleState('pause-without-record', `${ref.runId} has no record of ${pauseId}`)
    const pause = await findPause(tx, ref, pauseId)
    if (record.endTime || pause?.answeredAt || state.run.cancelRequestedAt) return wake()
    if (!pause) return openPause(tx, state, at, record)
    return pause.looked === false
  })
  if (looks) await lookForEvents(ctx, { ...ref, id: pauseId })
  return null
}

/** @returns whether it waits for an event and has not checked earlier events yet */
async function openPause(tx: TransactionContext, state: WalkState, at: Visit, record: StepRecordRow): Promise<boolean> {
  const question = askedBy(record, state.data)
  const { event, childRunId, ...asked } = question
  const { tenantId, runId, branch } = state.ref
  const now = tx.now()
  const pause = { ...asked, ...at, id: pauseIdOf(branch, at) }
  await tx.db.insert(pauses).values({
    tenantId,
    runId,
    branch,
    ...pause,
    ...eventColumns(event),
    ...(childRunId ? { childRunId, childState: 'due' as const } : {}),
    kind: kindOf(question),
    createdAt: now,
  })
  const { dueAt } = pause
  if (dueAt) tx.afterCommit(() => dueBy(dueAt))
  if (childRunId) await emit(tx, 'workflow/child.due', { tenantId, runId: childRunId })
  await tx.db
    .update(runs)
    .set({ ...(asked.signal ? { status: 'paused' as const } : {}), currentStepId: at.stepId, updatedAt: now })
    .where(and(eq(runs.tenantId, tenantId), eq(runs.id, runId)))
  await announceRun(tx, runId)
  return event !== undefined
}

function eventColumns(event: Asked['event']) {
  return event && { eventName: event.name, eventKey: event.key, eventRules: event.rules, looked: false }
}

/** What a visit waits for. Always the same, because the step's configuration and start are frozen. */
function askedBy(record: StepRecordRow, data: JsonObject): Asked {
  const type = findStepType(record.stepType)
  if (type?.mode !== 'pause') throw new ImpossibleState('pause-of-no-pause', `${record.stepType} does not pause`)
  const { stepId, startTime } = record
  const config = configOf(record)
  const asked = type.ask({ stepId, config, data, now: startTime, values: valuesIn(config) })
  if (!('signal' in asked)) throw new ImpossibleState('pause-without-question', `${stepId} asks nothing`)
  return asked
}

/** When a visit's time is up; null if it waits as long as it takes. */
export function dueOf(record: StepRecordRow): Date | null {
  return askedBy(record, {}).dueAt ?? null
}

/** After a wake-up or the end of a wait: continues with the answer, or waits again. */
export async function consumeAnswer(
  ctx: ServiceContext,
  ref: WalkClaim,
  pauseId: string,
  arm: number,
  handoff: Handoff,
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
 * Answers a pause whose time is up, unless somebody has answered it meanwhile: under the run's lock, like a person's
 * answer. @returns the pause as it is then
 */
async function answerIfDue(
  ctx: ServiceContext,
  ref: WalkClaim,
  pause: PauseRow | undefined,
): Promise<PauseRow | undefined> {
  if (!pause || pause.answeredAt || !pause.dueAt || pause.dueAt > ctx.now()) return pause
  // An event that came in time counts, even if it is delivered late.
  if (pause.eventName !== null) await lookForEvents(ctx, { ...ref, id: pause.id }, { until: pause.dueAt })
  return withTransaction(ctx, async (tx) => {
    await lockRun(tx, ref)
    await storeAnswer(tx, ref, pause.id, { due: true })
    return findPause(tx, ref, pause.id)
  })
}

/** What an answer adds, the exit it takes, and the step there. */
interface Answered {
  output: JsonObject
  delta: JsonObject
  exit: string | null
  next: string | null
  /** Set if the time was up; `handled` if a step follows. */
  failure?: { code: string; message: string; handled: boolean }
  failing?: Failing | null
}

function doneBy(
  { output, delta, exit, failure }: Answered,
  of: Pick<DoneStep, 'at' | 'endedAt' | 'pauseId'>,
): DoneStep {
  return { ...of, delta, exit, ...(failure ? { failure } : {}), ...outputColumns(output) }
}

/**
 * Plans how a walk continues from a pause that was answered while no engine run had the walk, for the claim that
 * continues it. Null if the pause has no answer.
 */
export async function planAnswered(
  ctx: ServiceContext,
  state: WalkState,
  record: StepRecordRow,
  drive: Drive,
): Promise<{ step: DoneStep; plan: Plan } | null> {
  const pause = await findPause(ctx, state.ref, pauseIdOf(state.ref.branch, record))
  return pause?.answer ? planAfter(ctx, state, record, pause, drive) : null
}

/** Plans how a walk continues from a pause with its answer. */
export async function planAfter(
  ctx: ServiceContext,
  state: WalkState,
  record: OpenRecord,
  pause: Pick<PauseRow, 'id' | 'answer'>,
  drive: Drive,
): Promise<{ step: DoneStep; plan: Plan }> {
  const at = { stepId: record.stepId, visit: record.visit }
  const answered = answerOf(state, record, pause)
  const endedAt = ctx.now()
  const { failure, next } = answered
  const plan =
    failure && next === null
      ? planEnd(state, unanswered(state, at.stepId, failure))
      : await planFrom(ctx, withAnswer(state, at, answered), next, drive)
  return { step: doneBy(answered, { at, endedAt, pauseId: pause.id }), plan }
}

/** How a run ends when a step gets no answer in time, or one that it cannot accept. */
function unanswered(state: WalkState, stepId: string, { code, message }: { code: string; message: string }): Ending {
  const outcome = code === TIMED_OUT ? 'timed_out' : 'failed'
  return { status: 'failed', outcome, written: state, error: { code, message, stepId }, stepId }
}

function answerOf(state: WalkState, record: OpenRecord, { id, answer }: Pick<PauseRow, 'id' | 'answer'>): Answered {
  const type = findStepType(record.stepType)
  if (type?.mode !== 'pause') throw new ImpossibleState('answer-of-no-pause', `${record.stepType} does not pause`)
  if (answer === null) throw new ImpossibleState('answer-of-nothing', `${id} was answered with nothing`)
  const { stepId } = record
  if ('due' in answer && !type.elapses)
    return failing(state, record, { code: TIMED_OUT, message: type.late ?? 'Nobody answered in time.' })
  let given: ReturnType<typeof type.answer>
  try {
    given = type.answer({ stepId, config: configOf(record), answer })
    // An answer that is too large is rejected, so the person sees it. For an event or a child's result, nobody would.
    if ('event' in answer || 'child' in answer) withDelta(state, given.delta, state.ref, record)
  } catch (err) {
    if (err instanceof StepFailure) return failing(state, record, { code: err.code, message: err.message })
    throw err
  }
  // As it will be read: what was given just now is still in the order of its sender.
  const ordered = (value: JsonObject) => inStoredOrder(value) as JsonObject
  const { output, delta, exit } = given
  return { output: ordered(output), delta: ordered(delta), ...exitOfAnswer(state.definition, type, stepId, exit) }
}

/** A step that fails because of its answer, or because it got none. */
function failing(state: WalkState, record: OpenRecord, failure: { code: string; message: string }): Answered {
  const caught = catching(state, record, failure)
  if (!caught) return { output: {}, delta: {}, exit: null, next: null, failure: { ...failure, handled: false } }
  const { delta, exit, handled } = caught.columns
  const { target: next, failing } = caught
  return { output: {}, delta, exit, next, failure: { ...failure, handled: handled === true }, failing }
}

function withAnswer(state: WalkState, at: Visit, { output, delta, failing }: Answered): WalkState {
  const run = failing ? { ...state.run, failing } : state.run
  return {
    ...state,
    run,
    ...withDelta(state, delta, state.ref, at),
    outputs: { ...state.outputs, [at.stepId]: output },
  }
}

/** The run was cancelled after the answer: it still counts, and nothing follows. */
async function stopAfterAnswer(
  tx: TransactionContext,
  state: WalkState,
  at: Visit,
  record: StepRecordRow,
  pause: PauseRow,
): Promise<Receipt> {
  const answered = answerOf(state, record, pause)
  const now = tx.now()
  const { delta, output, exit, next, failure } = answered
  const { receipt } = STOPPED
  await tx.db
    .update(stepRecords)
    .set({
      status: 'completed',
      endTime: now,
      ...outputColumns(output),
      delta,
      exit,
      receipt,
      ...(failure ? { status: 'failed' as const, ...failed(failure), handled: failure.handled || null } : {}),
    })
    .where(recordIs({ state, at }))
  await tx.db
    .update(pauses)
    .set({ consumedAt: now })
    .where(and(pauseIs(state.ref, pause.id), isNull(pauses.consumedAt)))
  await settleCancel(tx, heldBy(withAnswer(state, at, answered)), { ref: state.ref, next })
  return receipt
}

async function findPause(ctx: ServiceContext, ref: WalkRef, pauseId: string): Promise<PauseRow | undefined> {
  const [pause] = await ctx.db.select().from(pauses).where(pauseIs(ref, pauseId))
  return pause
}

function visitOf(ref: WalkRef, pauseId: string): Visit {
  const rest = pauseId.slice(ref.branch.length + 1)
  const hash = rest.lastIndexOf('#')
  return { stepId: rest.slice(0, hash), visit: Number(rest.slice(hash + 1)) }
}
