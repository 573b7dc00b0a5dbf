import { pauses } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { inStoredOrder, type JsonObject } from '../../definition/json'
import type { Failing } from '../../definition/run'
import { ImpossibleState, StepFailure } from '../../errors'
import { pauseIs } from '../../run-store/conditions'
import { pauseIdOf, type Visit, type WalkRef } from '../../run-store/names'
import type { StepRecordRow } from '../../run-store/walk-data'
import { findStepType } from '../../steps/registry'
import { catching, exitOfAnswer, TIMED_OUT } from '../flow/exits'
import { outputColumns, withDelta } from '../flow/sizes'
import type { Ending, OpenRecord, WalkState } from '../flow/types'
import { planEnd, planFrom } from '../plan/plan'
import { configOf } from '../plan/state'
import type { DoneStep, Drive, Plan } from '../plan/types'

export type PauseRow = typeof pauses.$inferSelect

/** The result of an answer: its data, its exit, and the step there. */
interface Answered {
  output: JsonObject
  delta: JsonObject
  exit: string | null
  next: string | null
  /** Set if the pause expired; `handled` if a step follows. */
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

/** The data that the answer of a pause adds, and where the walk continues. */
export function answerOf(
  state: WalkState,
  record: OpenRecord,
  { id, answer }: Pick<PauseRow, 'id' | 'answer'>,
): Answered {
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
  const { output, delta, exit } = given
  const shown = exitOfAnswer(state.definition, type, stepId, exit)
  // In stored order: a new answer is still in its sender's order.
  return { output: inStoredOrder(output), delta: inStoredOrder(delta), ...shown }
}

/** A step that fails because of its answer, or without one. */
function failing(state: WalkState, record: OpenRecord, failure: { code: string; message: string }): Answered {
  const caught = catching(state, record, failure)
  if (!caught) return { output: {}, delta: {}, exit: null, next: null, failure: { ...failure, handled: false } }
  const { delta, exit, handled } = caught.columns
  const { target: next, failing } = caught
  return { output: {}, delta, exit, next, failure: { ...failure, handled: handled === true }, failing }
}

export function withAnswer(state: WalkState, at: Visit, { output, delta, failing }: Answered): WalkState {
  const run = failing ? { ...state.run, failing } : state.run
  return {
    ...state,
    run,
    ...withDelta(state, delta, state.ref, at),
    outputs: { ...state.outputs, [at.stepId]: output },
  }
}

/** A pause of a walk's run; undefined if it was not opened. */
export async function findPause(ctx: ServiceContext, ref: WalkRef, pauseId: string): Promise<PauseRow | undefined> {
  const [pause] = await ctx.db.select().from(pauses).where(pauseIs(ref, pauseId))
  return pause
}
