import { isUnavailable, sqlState } from '@/db/deadline'
import type { ServiceContext } from '../context'
import {
  inStoredOrder,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonSize,
  toStorableJson,
} from '../definition/json'
import { MAX_QUESTION_BYTES, readableSize } from '../definition/limits'
import { findStep, nextStep } from '../definition/next-step'
import type { Attempt, PauseSignal, Receipt } from '../definition/run'
import type { Step } from '../definition/schema'
import type { StepConfig } from '../definition/step-config'
import { StepFailure } from '../errors'
import { parseConfig } from '../steps/config'
import type { AnyStep, StepOutput } from '../steps/define-step'
import { findStepType } from '../steps/registry'
import type { Ending } from './close'
import { type Moment, moment } from './heard'
import type { Place } from './place'
import { CLEANUP_BRANCH, pauseIdOf, type Visit } from './receipt'
import { resolveConfig } from './resolve'
import { classify } from './retry'
import { addToData, storableOutput } from './size'
import { endingOf } from './stop'

/** After so many computed steps the next one does not start at once, so that the engine sees progress. */
const MAX_STEPS = 100

/** What a walk does next, worked out in memory. `commitPlan` writes it in one statement. */
export interface Plan {
  /** Records to insert, in the order of the history. */
  records: NewRecord[]
  /** The run data after them; null leaves it as it is. */
  data: JsonObject | null
  /** The run's new current step; null leaves it as it is. */
  stepId: string | null
  /** Set if the run ends here. */
  ending: Ending | null
  /** The pause to open, if the walk rests there. */
  pause: NewPause | null
  /** What the walk is told. */
  receipt: Receipt
  /** The next effect step of the walk, if it may start at once. */
  begun: Begun | null
}

/** A pause to be opened. */
export interface NewPause extends Visit {
  id: string
  signal: PauseSignal
}

/** How a walk is driven. */
export interface Drive {
  /** The number of the first attempt of a step: 1 when this process starts it at once, 0 when another claim will. */
  attempt: 0 | 1
  /** Whether no engine run waits at a pause: the walk rests, and the answer requests another one. */
  rests: boolean
}

/** A row of `step_records` to be inserted. */
export interface NewRecord extends Visit {
  stepType: string
  stepName: string
  status: 'running' | 'completed' | 'failed'
  attempt: number
  startTime: Date
  endTime: Date | null
  config: JsonObject
  inputData: JsonObject
  inputBytes: number
  outputData: JsonObject | null
  outputBytes: number | null
  delta: JsonObject | null
  error: string | null
  errorCode: string | null
}

/** An attempt of an effect step, with everything its work needs. */
export interface Begun {
  place: Place
  at: Visit
  type: AnyStep & { mode: 'effect' }
  config: StepConfig
  attempt: number
  attempts: Attempt[]
  startedAt: Date
  /** Before it was committed; what was heard of the run since then may concern it. */
  since: Moment
}

/**
 * Plans how a walk continues from a place at `stepId`. Steps that only compute are computed here. The first step that
 * needs the outside world or a person is recorded as begun, with its configuration frozen. Writes nothing, and reads
 * only outputs that are stored already, so it needs no lock.
 * @param stepId null when nothing follows, which completes the run
 */
export async function planFrom(ctx: ServiceContext, from: Place, stepId: string | null, drive: Drive): Promise<Plan> {
  const place = { ...from, outputs: { ...from.outputs } }
  const records: NewRecord[] = []
  const end = (reached: Ending): Plan => {
    const ending = endingOf(place, reached)
    const { data, stepId } = ending
    return { records, data, stepId, ending, pause: null, receipt: { stop: 'ended' }, begun: null }
  }
  const fail = (error: { code: string; message: string }, at: string) =>
    end({ status: 'failed', outcome: 'failed', data: place.data, error: { ...error, stepId: at }, stepId: at })
  let target = stepId
  for (let steps = 0; ; steps++) {
    const { data } = place
    if (target === null) return end({ status: 'completed', outcome: 'succeeded', data, result: data, stepId: null })
    const step = findStep(place.definition, target)
    const type = step && findStepType(step.type)
    if (!step || !type) {
      return fail({ code: 'UNKNOWN_STEP', message: `The step ${target} of this version cannot be run.` }, target)
    }
    // Publishing refuses cycles, so a walk visits a step once. A step that loops will count its own visits.
    const entry: Entry = { place, step, type, at: { stepId: step.id, visit: 1 }, now: ctx.now() }
    const taken = await take(ctx, entry)
    if ('failure' in taken) {
      const { code, message } = taken.failure
      records.push(newRecord(entry, {}, { status: 'failed', error: message, errorCode: code }))
      return fail(taken.failure, step.id)
    }
    if ('begins' in taken) {
      const first = type.mode === 'pause' ? 1 : steps < MAX_STEPS ? drive.attempt : 0
      records.push(newRecord(entry, taken.begins, { status: 'running', attempt: first }))
      const signal = drive.rests ? taken.signal : null
      return { records, data, stepId: step.id, ending: null, ...beginning(entry, taken.begins, first, signal) }
    }
    const { config, outputData, delta } = taken
    records.push(newRecord(entry, config, { status: 'completed', delta, ...outputColumns(outputData) }))
    place.data = taken.data
    place.outputs[step.id] = outputData
    if (taken.result !== undefined) {
      const { result } = taken
      return end({ status: 'completed', outcome: 'succeeded', data: taken.data, result, stepId: step.id })
    }
    target = nextStep(place.definition, step.id, taken.exit)
  }
}

interface Entry {
  place: Place
  step: Step
  type: AnyStep
  at: Visit
  now: Date
}

type Taken =
  | { failure: { code: string; message: string } }
  /** The step needs work, or a person; this is its configuration, and what it asks. */
  | { begins: StepConfig; signal: PauseSignal | null }
  | {
      config: StepConfig
      outputData: JsonObject
      delta: JsonObject
      /** The run data including the delta. */
      data: JsonObject
      exit: string
      /** Of a step that ends the run. */
      result?: JsonValue
    }

/** Resolves a step's configuration, and computes the step if it needs nothing else. */
async function take(ctx: ServiceContext, { place, step, type, at }: Entry): Promise<Taken> {
  try {
    const config = parseConfig(type, { ...(await resolveConfig(ctx, place, step)), ...commonOf(step) })
    if (type.mode === 'pause' && place.ref.branch === CLEANUP_BRANCH)
      throw new StepFailure('PAUSE_IN_CLEANUP', 'A cleanup path cannot wait for a person.')
    if (type.mode === 'end') {
      const result = inStoredOrder(toStorableJson(type.result({ config, data: place.data })))
      return {
        config,
        outputData: objectOf(result, undefined, 'result'),
        delta: {},
        data: place.data,
        exit: '',
        result,
      }
    }
    const done = compute(type, place, at, config)
    if (!done) return { begins: config, signal: null }
    if ('signal' in done) return { begins: config, signal: done.signal }
    const output = storableOutput(done.output)
    const delta = deltaOf(output, config.saveAs, step.id)
    const outputData = objectOf(output, config.saveAs, step.id)
    return { config, outputData, delta, data: addToData(place.data, delta), exit: done.exit ?? 'next' }
  } catch (err) {
    return { failure: failureAtEntry(err) }
  }
}

/** What a step yields without work or waiting, what it asks a person, or null when it needs work. */
function compute(
  type: AnyStep,
  place: Place,
  at: Visit,
  config: JsonObject,
): StepOutput | { signal: PauseSignal } | null {
  const call = { config, data: place.data, stepId: at.stepId }
  if (type.mode === 'pure') return type.compute(call)
  if (type.mode !== 'pause') return null
  const asked = type.ask(call)
  if ('output' in asked) return { output: asked.output }
  if (jsonSize(asked.signal) <= MAX_QUESTION_BYTES) return asked
  throw new StepFailure('CONFIG_TOO_LARGE', `The question is larger than ${readableSize(MAX_QUESTION_BYTES)}`)
}

/** How the walk goes on at a step that begins: a pause waits, an effect starts at once if its attempt is counted. */
function beginning(
  { place, type, at, now }: Entry,
  config: StepConfig,
  attempt: number,
  signal: PauseSignal | null,
): Pick<Plan, 'receipt' | 'begun' | 'pause'> {
  if (type.mode === 'pause') {
    const id = pauseIdOf(place.ref.branch, at)
    if (signal) return { receipt: { stop: 'resting' }, begun: null, pause: { ...at, id, signal } }
    return { receipt: { wait: { pauseId: id, arm: 0, dueAt: null } }, begun: null, pause: null }
  }
  const receipt = { next: at }
  if (attempt === 0 || type.mode !== 'effect') return { receipt, begun: null, pause: null }
  // The outputs of this plan are stored by the time anything looks for them.
  const run = { ...place.run, currentStepId: at.stepId }
  const begun = {
    place: { ...place, run, outputs: {} },
    at,
    type,
    config,
    attempt,
    attempts: [],
    startedAt: now,
    since: moment(),
  }
  return { receipt, begun, pause: null }
}

/** @throws err itself if the run is not at fault; the engine then tries again */
function failureAtEntry(err: unknown): { code: string; message: string } {
  if (isUnavailable(err) || sqlState(err) !== undefined) throw err
  if (isConfigError(err)) {
    const [issue] = err.issues
    const message = `The resolved configuration is not valid: ${issue?.path.join('.')} ${issue?.message}`
    return { code: 'INVALID_CONFIG', message }
  }
  const { code, message, internal } = classify(err)
  if (internal) throw err
  return { code, message }
}

function isConfigError(err: unknown): err is { issues: { path: PropertyKey[]; message: string }[] } {
  return err instanceof Error && err.name === 'ZodError' && 'issues' in err
}

function commonOf(step: Step): JsonObject {
  return Object.fromEntries(Object.entries(step).filter(([key]) => key === 'name' || key === 'retry'))
}

/** An object is merged by field; any other value is stored under `saveAs`, or under the step's id. */
export function deltaOf(output: JsonValue, saveAs: string | undefined, stepId: string): JsonObject {
  if (saveAs) return { [saveAs]: output }
  return isJsonObject(output) ? output : { [stepId]: output }
}

/** A step's output as history shows it: always an object. */
export function objectOf(output: JsonValue, saveAs: string | undefined, stepId: string): JsonObject {
  return isJsonObject(output) ? output : { [saveAs ?? stepId]: output }
}

/** A step's output as stored in its record. */
export function outputColumns(outputData: JsonObject): { outputData: JsonObject; outputBytes: number } {
  return { outputData, outputBytes: jsonSize(outputData) }
}

function newRecord(
  { step, type, at, now }: Entry,
  config: JsonObject,
  rest: Pick<NewRecord, 'status'> & Partial<NewRecord>,
): NewRecord {
  const inputData = Object.keys(config).length === 0 ? {} : inputDataOf(type, config)
  const open = rest.status === 'running'
  return {
    ...at,
    stepType: step.type,
    stepName: typeof step.name === 'string' ? step.name : step.id,
    attempt: 1,
    startTime: now,
    endTime: open ? null : now,
    config,
    inputData,
    inputBytes: jsonSize(inputData),
    ...(open ? { outputData: null, outputBytes: null } : outputColumns({})),
    delta: null,
    error: null,
    errorCode: null,
    ...rest,
  }
}

function inputDataOf(type: AnyStep, config: JsonObject): JsonObject {
  const { name: _name, retry: _retry, ...rest } = config
  return type.inputData ? type.inputData(config) : rest
}
