import { and, eq } from 'drizzle-orm'
import { isUnavailable, sqlState } from '@/db/deadline'
import { runs, stepRecords } from '@/db/schema/runs'
import type { TransactionContext } from '../context'
import { isJsonObject, type JsonObject, type JsonValue, jsonSize, toStorableJson } from '../definition/json'
import { MAX_QUESTION_BYTES, readableSize } from '../definition/limits'
import { findStep, nextStep } from '../definition/next-step'
import type { Attempt, Receipt } from '../definition/run'
import type { Step } from '../definition/schema'
import type { StepConfig } from '../definition/step-config'
import { StepFailure } from '../errors'
import { parseConfig } from '../steps/config'
import type { AnyStep, StepOutput } from '../steps/define-step'
import { findStepType } from '../steps/registry'
import type { Place } from './place'
import { CLEANUP_BRANCH, pauseIdOf, type Visit } from './receipt'
import { resolveConfig } from './resolve'
import { classify } from './retry'
import { addToData, storableOutput } from './size'
import { endRun } from './stop'

/** The most computed steps in one transaction before it commits and the walk continues in the next. */
const MAX_STEPS = 100

export interface Entered {
  receipt: Receipt
  /** The next effect step of the walk, if it may start at once. */
  begun: Begun | null
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
}

/**
 * Continues from a locked place at `stepId`. Steps that only compute are recorded right here, in the same transaction.
 * The first step that needs the outside world or a person is recorded as begun, with its configuration frozen.
 * @param attempt number of the first attempt: 1 when the caller starts it at once, 0 when another claim will
 */
export async function enter(
  tx: TransactionContext,
  place: Place,
  stepId: string | null,
  attempt: 0 | 1,
): Promise<Entered> {
  let target = stepId
  for (let steps = 0; ; steps++) {
    if (target === null) {
      await endRun(tx, place, {
        status: 'completed',
        outcome: 'succeeded',
        data: place.data,
        result: place.data,
        stepId: null,
      })
      return { receipt: { stop: 'ended' }, begun: null }
    }
    const step = findStep(place.definition, target)
    const type = step && findStepType(step.type)
    if (!step || !type) {
      const error = {
        code: 'UNKNOWN_STEP',
        message: `The step ${target} of this version cannot be run.`,
        stepId: target,
      }
      await endRun(tx, place, { status: 'failed', outcome: 'failed', data: place.data, error, stepId: target })
      return { receipt: { stop: 'ended' }, begun: null }
    }
    // Publish refuses cycles, so a walk visits a step only once. Loop steps will count their own visits.
    const at: Visit = { stepId: step.id, visit: 1 }
    const done = await take(tx, place, step, type, at, steps < MAX_STEPS ? attempt : 0)
    if ('receipt' in done) return done
    target = nextStep(place.definition, step.id, done.exit)
  }
}

/** Records one step. Returns the exit a computed step takes, or what the walk must do. */
async function take(
  tx: TransactionContext,
  place: Place,
  step: Step,
  type: AnyStep,
  at: Visit,
  attempt: 0 | 1,
): Promise<Entered | { exit: string }> {
  let config: StepConfig
  try {
    config = parseConfig(type, { ...(await resolveConfig(tx, place, step)), ...commonOf(step) })
    if (type.mode === 'pause' && place.ref.branch === CLEANUP_BRANCH)
      throw new StepFailure('PAUSE_IN_CLEANUP', 'A cleanup path cannot wait for a person.')
    if (type.mode === 'pure' || type.mode === 'end' || type.mode === 'pause') {
      const done = compute(type, place, at, config)
      if (done) {
        const delta = done.ended === undefined ? deltaOf(done.output, config.saveAs, step.id) : {}
        const outputData =
          done.ended === undefined
            ? objectOf(done.output, config.saveAs, step.id)
            : objectOf(done.ended, undefined, 'result')
        const data = addToData(place.data, delta)
        await insertRecord(tx, place, step, type, at, config, { attempt: 1, status: 'completed', outputData, delta })
        place.data = data
        place.outputs[step.id] = outputData
        if (done.ended === undefined) return { exit: done.exit ?? 'next' }
        await endRun(tx, place, {
          status: 'completed',
          outcome: 'succeeded',
          data: place.data,
          result: done.ended,
          stepId: step.id,
        })
        return { receipt: { stop: 'ended' }, begun: null }
      }
    }
  } catch (err) {
    return { receipt: await failAtEntry(tx, place, step, type, at, err), begun: null }
  }
  // Sent back to back without waiting for each other, as in every group of writes here.
  const running = { attempt: type.mode === 'pause' ? 1 : attempt, status: 'running' } as const
  const [now] = await Promise.all([
    insertRecord(tx, place, step, type, at, config, running),
    moveRun(tx, place, step.id),
  ])
  if (type.mode === 'pause')
    return { receipt: { wait: { pauseId: pauseIdOf(place.ref.branch, at), arm: 0, dueAt: null } }, begun: null }
  const begun =
    attempt === 1 && type.mode === 'effect' ? { place, at, type, config, attempt, attempts: [], startedAt: now } : null
  return { receipt: { next: at }, begun }
}

/** The result of a step that needs neither work nor waiting; null for any other step. */
function compute(
  type: AnyStep,
  place: Place,
  at: Visit,
  config: JsonObject,
): (StepOutput & { ended?: JsonValue }) | null {
  const call = { config, data: place.data, stepId: at.stepId }
  if (type.mode === 'pure') return bounded(type.compute(call))
  if (type.mode === 'end') return { output: {}, ended: toStorableJson(type.result(call)) }
  if (type.mode === 'pause') {
    const asked = type.ask(call)
    if ('output' in asked) return bounded({ output: asked.output })
    if (jsonSize(asked.signal) <= MAX_QUESTION_BYTES) return null
    throw new StepFailure('CONFIG_TOO_LARGE', `The question is larger than ${readableSize(MAX_QUESTION_BYTES)}`)
  }
  return null
}

function bounded(output: StepOutput): StepOutput {
  return { ...output, output: storableOutput(output.output) }
}

async function failAtEntry(
  tx: TransactionContext,
  place: Place,
  step: Step,
  type: AnyStep,
  at: Visit,
  err: unknown,
): Promise<Receipt> {
  // A failed statement has aborted the transaction: nothing more can be recorded in it.
  if (isUnavailable(err) || sqlState(err) !== undefined) throw err
  const failure = classify(err)
  // A bug of ours must not fail the run: roll back and let the engine try again.
  if (failure.internal && !isConfigError(err)) throw err
  const code = isConfigError(err) ? 'INVALID_CONFIG' : failure.code
  const message = isConfigError(err)
    ? `The resolved configuration is not valid: ${err.issues[0]?.path.join('.')} ${err.issues[0]?.message}`
    : failure.message
  await insertRecord(tx, place, step, type, at, {}, { attempt: 1, status: 'failed', error: message, errorCode: code })
  await endRun(tx, place, {
    status: 'failed',
    outcome: 'failed',
    data: place.data,
    error: { code, message, stepId: step.id },
    stepId: step.id,
  })
  return { stop: 'ended' }
}

function isConfigError(err: unknown): err is { issues: { path: PropertyKey[]; message: string }[] } {
  return err instanceof Error && err.name === 'ZodError' && 'issues' in err
}

function commonOf(step: Step): JsonObject {
  return Object.fromEntries(Object.entries(step).filter(([key]) => key === 'name' || key === 'retry'))
}

/** Moves the run to a step and writes the working copy of its data. */
async function moveRun(tx: TransactionContext, place: Place, stepId: string): Promise<void> {
  await tx.db
    .update(runs)
    .set({ data: place.data, currentStepId: stepId, updatedAt: tx.now() })
    .where(and(eq(runs.tenantId, place.ref.tenantId), eq(runs.id, place.ref.runId)))
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

type NewRecord = {
  attempt: number
  status: 'running' | 'completed' | 'failed'
  outputData?: JsonObject
  delta?: JsonObject
  error?: string
  errorCode?: string
}

async function insertRecord(
  tx: TransactionContext,
  place: Place,
  step: Step,
  type: AnyStep,
  at: Visit,
  config: JsonObject,
  record: NewRecord,
): Promise<Date> {
  const now = tx.now()
  const { tenantId, runId, branch } = place.ref
  const inputData = Object.keys(config).length === 0 ? {} : inputDataOf(type, config)
  await tx.db.insert(stepRecords).values({
    tenantId,
    runId,
    branch,
    stepId: at.stepId,
    visit: at.visit,
    stepType: step.type,
    stepName: typeof step.name === 'string' ? step.name : step.id,
    startTime: now,
    ...(record.status === 'running' ? {} : { endTime: now, ...outputColumns(record.outputData ?? {}) }),
    config,
    inputData,
    inputBytes: jsonSize(inputData),
    ...record,
  })
  return now
}

function inputDataOf(type: AnyStep, config: JsonObject): JsonObject {
  const { name: _name, retry: _retry, ...rest } = config
  return type.inputData ? type.inputData(config) : rest
}
