import type { ServiceContext } from '../../context'
import { graphOf } from '../../definition/graph'
import { type JsonObject, jsonSize, own } from '../../definition/json'
import type { Arrival, Receipt, RunError } from '../../definition/run'
import type { StepConfig } from '../../definition/step-config'
import { pauseIdOf, type Visit } from '../../run-store/names'
import type { Written } from '../../run-store/run-data'
import type { Asked } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
import { AttemptLog } from '../flow/attempt-log'
import { afterCatch, catching, failurePath, shownExit } from '../flow/exits'
import { failed, outputColumns } from '../flow/sizes'
import { inputDataOf } from '../flow/step'
import { endingOf } from '../flow/stopping'
import type { EarlyWork, Ending, Entry, WalkState } from '../flow/types'
import { mark } from '../notice/heard'
import { enter } from './enter'
import { resultOf, visitsSoFar } from './outputs'
import type { Drive, NewRecord, Plan } from './types'

/** A plan is written after this many steps, so that the engine sees progress and a cancel need not wait for a loop. */
const MAX_STEPS = 100
/** Also after this many bytes of JSON or milliseconds of planning. */
const MAX_PLAN_BYTES = 4 * 1024 * 1024
const MAX_PLAN_MS = 200

/** How long steps of one plan may run inline. The next one is recorded as begun, so that the previous one is stored. */
const INLINE_MS = 50

/**
 * Plans how a walk continues at `stepId`. Computes steps that only compute, and runs effects that run inline. The first
 * step that needs the outside world or a person is recorded as begun, with its configuration frozen. Writes nothing,
 * and reads only outputs that are stored already, so it needs no lock.
 * @param stepId null when nothing follows, which completes the run
 */
export async function planFrom(
  ctx: ServiceContext,
  from: WalkState,
  stepId: string | null,
  drive: Drive,
): Promise<Plan> {
  const state = { ...from }
  const plan = await walkOn(ctx, state, stepId, drive)
  return { ...plan, failing: state.run.failing }
}

/** @param state advances with the plan */
async function walkOn(ctx: ServiceContext, state: WalkState, stepId: string | null, drive: Drive): Promise<Plan> {
  const visits = { ...(state.visits ?? (await visitsSoFar(ctx, state))) }
  const outputs = { ...state.outputs }
  Object.assign(state, { outputs, visits })
  const graph = graphOf(state.definition)
  const records: NewRecord[] = []
  const end = (reached: Ending): Plan => ({ ...planEnd(state, reached), records })
  const arrive = (arrival: Arrival): Plan => ({ ...planArrival(state, arrival), records })
  const fail = (error: { code: string; message: string }, at: string) =>
    end({ status: 'failed', outcome: 'failed', written: state, error: { ...error, stepId: at }, stepId: at })
  let target = stepId
  // Only if this process continues immediately: a step that kills its process must not take others down with it
  // repeatedly.
  const inlineUntil = drive.rests && drive.attempt === 1 ? performance.now() + INLINE_MS : 0
  const began = performance.now()
  let bytes = 0
  for (let steps = 0; ; steps++) {
    const written = writtenBy(state)
    const isFull =
      steps >= MAX_STEPS || (steps > 0 && (bytes > MAX_PLAN_BYTES || performance.now() - began > MAX_PLAN_MS))
    if (target === null) {
      if (state.own !== null) return arrive(await resultOf(ctx, state))
      return end({ status: 'completed', outcome: 'succeeded', written, result: state.data, stepId: null })
    }
    const step = graph.step(target)
    const type = step && findStepType(step.type)
    if (!step || !type) {
      return fail({ code: 'UNKNOWN_STEP', message: `The step ${target} of this version cannot be run.` }, target)
    }
    const at: Visit = { stepId: step.id, visit: (own(visits, step.id) ?? 0) + 1 }
    if (isFull && type.mode !== 'effect')
      return { ...NOTHING, records, written, stepId: step.id, receipt: { go: at }, cursor: at }
    if (graph.looping.has(step.id)) visits[step.id] = at.visit
    const entry: Entry = { state, step, type, at, now: ctx.now() }
    const entered = await enter(ctx, entry, isFull ? 0 : inlineUntil)
    if ('failure' in entered) {
      const caught = catching(state, at, entered.failure)
      records.push(newRecord(entry, {}, { status: 'failed', ...failed(entered.failure), ...caught?.columns }))
      if (!caught) return fail(entered.failure, step.id)
      Object.assign(state, afterCatch(state, caught))
      target = caught.target
      continue
    }
    if ('fails' in entered) {
      const onward = failurePath(state, at, entered.fails)
      records.push(newRecord(entry, entered.config, { status: 'failed', ...failed(entered.fails), ...onward?.columns }))
      if (onward) {
        Object.assign(state, afterCatch(state, onward))
        target = onward.target
        continue
      }
      if (state.own !== null)
        return arrive({ ends: { status: 'failed', error: { ...entered.fails, stepId: step.id } } })
      return fail(entered.fails, step.id)
    }
    if ('begins' in entered) {
      const first = type.mode !== 'effect' ? 1 : isFull ? 0 : drive.attempt
      records.push(newRecord(entry, entered.begins, { status: 'running', attempt: first }))
      const begins = beginning(ctx, entry, entered, first, drive.rests)
      return { ...NOTHING, records, written, stepId: step.id, ...begins }
    }
    const { config, outputData, delta } = entered
    const columns = outputColumns(outputData)
    const exit = shownExit(type, entered.exit)
    const endTime = ctx.now()
    const { logs } = entered
    const kept = logs && { attempts: [{ attempt: 1, startTime: iso(entry.now), endTime: iso(endTime), logs }] }
    records.push(newRecord(entry, config, { status: 'completed', endTime, delta, exit, ...columns, ...kept }))
    Object.assign(state, entered.grown)
    bytes += columns.outputBytes + (records.at(-1)?.inputBytes ?? 0)
    outputs[step.id] = outputData
    if (entered.result !== undefined) {
      const { result } = entered
      if (state.own !== null) return arrive({ ends: { status: 'completed', result, stepId: step.id } })
      return end({ status: 'completed', outcome: 'succeeded', written: state, result, stepId: step.id })
    }
    target = graph.target(step.id, entered.exit)
  }
}

/** An Inngest server rejects waits of more than 366 days. */
const LONGEST_WAIT_MS = 365 * 86_400_000

/**
 * Makes an engine run wait for the answer to a pause, or its time. If that is further away than an engine may wait, it
 * waits again when the wait has ended.
 */
export function waitFor(
  { now }: Pick<ServiceContext, 'now'>,
  pauseId: string,
  arm: number,
  dueAt: Date | null,
): Extract<Receipt, { wait: object }> {
  const longest = new Date(now().getTime() + LONGEST_WAIT_MS)
  const until = dueAt && dueAt > longest ? longest : dueAt
  return { wait: { pauseId, arm, dueAt: until?.toISOString() ?? null } }
}

/** A plan without effect. */
export const NOTHING = {
  records: [],
  written: null,
  stepId: null,
  ending: null,
  failing: null,
  isChild: false,
  pause: null,
  begun: null,
  cursor: null,
  arrival: null,
} as const satisfies Omit<Plan, 'receipt'>

/** Ends the run, unless this is a branch: then the failure is passed to its fork. */
export function planEnd(state: WalkState, reached: Ending): Plan {
  if (state.own !== null && reached.status === 'failed') return planArrival(state, arrivalOf(reached))
  const ending = endingOf(state, reached)
  const { written, stepId } = ending
  const { failing } = state.run
  return {
    ...NOTHING,
    written,
    stepId,
    ending,
    failing,
    isChild: state.run.parentRunId !== null,
    receipt: { stop: 'ended' },
  }
}

function planArrival(state: WalkState, arrival: Arrival): Plan {
  return { ...NOTHING, written: writtenBy(state), receipt: { arrive: true }, arrival }
}

function arrivalOf({ error, outcome }: { error: RunError; outcome: string }): Arrival {
  return { failed: error, outcome: outcome === 'timed_out' ? outcome : 'failed' }
}

/** The data that a walk stores. */
function writtenBy({ data, refs, own }: WalkState): Written {
  return own ?? { data, refs }
}

/**
 * How the walk continues at a step that begins: a pause waits; an effect starts immediately if its attempt is counted.
 */
function beginning(
  ctx: ServiceContext,
  { state, type, at, now }: Entry,
  { begins: config, asked, early }: { begins: StepConfig; asked: Asked | null; early?: EarlyWork },
  attempt: number,
  rests: boolean,
): Pick<Plan, 'receipt' | 'begun' | 'pause'> {
  if (type.mode === 'pause') {
    const id = pauseIdOf(state.ref.branch, at)
    if (asked && rests) return { receipt: { stop: 'resting' }, begun: null, pause: { ...asked, ...at, id } }
    return { receipt: waitFor(ctx, id, 0, asked?.dueAt ?? null), begun: null, pause: null }
  }
  if (type.mode === 'fork') return { receipt: { fork: at }, begun: null, pause: null }
  const receipt = { next: at }
  if (attempt === 0 || type.mode !== 'effect') return { receipt, begun: null, pause: null }
  // The outputs of this plan are stored before anything reads them.
  const run = { ...state.run, currentStepId: at.stepId }
  const recalled = early ? null : (type.recall?.(config, state.run.tenantId) ?? null)
  const begun = {
    state: { ...state, run, outputs: {} },
    at,
    type,
    config,
    attempt,
    attempts: [],
    log: early?.log ?? new AttemptLog(),
    startedAt: now,
    since: mark(),
    early,
    recalled,
  }
  return { receipt, begun, pause: null }
}

function newRecord(
  { step, type, at, now }: Entry,
  config: JsonObject,
  rest: Pick<NewRecord, 'status'> & Partial<NewRecord>,
): NewRecord {
  const inputData = Object.keys(config).length === 0 ? {} : inputDataOf(type, config)
  const open = rest.status === 'running'
  const outputData = rest.outputData ?? (open ? null : {})
  // Field by field: spreading objects of many shapes into each other is slow, and this runs for each step.
  return {
    stepId: at.stepId,
    visit: at.visit,
    stepType: step.type,
    stepName: typeof step.name === 'string' ? step.name : step.id,
    status: rest.status,
    attempt: rest.attempt ?? 1,
    startTime: now,
    endTime: rest.endTime ?? (open ? null : now),
    config,
    inputData,
    inputBytes: jsonSize(inputData),
    outputData,
    outputBytes: rest.outputBytes ?? (outputData && jsonSize(outputData)),
    delta: rest.delta ?? null,
    error: rest.error ?? null,
    errorCode: rest.errorCode ?? null,
    handled: rest.handled ?? null,
    exit: rest.exit ?? null,
    ...(rest.attempts && { attempts: rest.attempts }),
  }
}

function iso(time: Date): string {
  return time.toISOString()
}
