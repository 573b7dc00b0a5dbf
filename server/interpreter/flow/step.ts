import { isUnavailable, sqlState } from '@/db/deadline'
import { branchesAround, MAX_NESTED } from '../../definition/branches'
import {
  inStoredOrder,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonSize,
  toStorableJson,
} from '../../definition/json'
import { MAX_QUESTION_BYTES, readableSize } from '../../definition/limits'
import type { StepConfig } from '../../definition/step-config'
import { StepFailure } from '../../errors'
import { newId } from '../../ids'
import type { WalkRef } from '../../run-store/names'
import { parseConfig } from '../../steps/config'
import type { AnyStep, Asked, Forking, StepOutput } from '../../steps/define-step'
import { evaluateText, expressionEffort } from '../../tools/expression'
import { pathAside } from './aside'
import { classify } from './failure'
import type { Resolved } from './fill-in'
import { deltaOf, objectOf, storableOutput, withDelta } from './sizes'
import type { Entered, Entry, Position } from './types'

// Computes steps from their configuration. Nothing here reads or writes, so a simulation behaves like a run.

/** @throws StepFailure LOOP_LIMIT */
export function requireVisit({ step, at }: Entry<Position>): void {
  if (step.maxVisits !== undefined && at.visit > Number(step.maxVisits))
    throw new StepFailure('LOOP_LIMIT', `The run visited this step more than ${step.maxVisits} times`)
}

/**
 * Computes a step, or finds that it needs work or an answer.
 * @throws errors that `failureAtEntry` handles
 */
export function enterResolved(entry: Entry<Position>, resolved: Resolved): Entered {
  const { state, type, at, now } = entry
  const config = parseConfig(type, resolved.config)
  if (resolved.values !== null) {
    config.$values = resolved.values
    // The form that history shows may be larger than its parts.
    inputDataOf(type, config)
  }
  if (type.mode === 'pause' && type.startsRun) config.$runId = newId('run')
  const aside = pathAside(state)
  if (type.mode === 'pause' && aside) throw new StepFailure('PAUSE_IN_CLEANUP', `A ${aside} path cannot wait.`)
  if (type.mode === 'fork' && aside) throw new StepFailure('FORK_IN_CLEANUP', `A ${aside} path cannot run branches.`)
  if (type.mode === 'fork') {
    const { branches } = fork(type, config, state.ref)
    if (branches.length > 0) return { begins: config, asked: null }
    const joined = type.join({ config, stepId: at.stepId, branches: [] })
    const output = inStoredOrder(joined.output)
    const delta = inStoredOrder(joined.delta)
    return { config, outputData: output, delta, grown: withDelta(state, delta, state.ref, at), exit: 'done' }
  }
  if (type.mode === 'end') {
    const result = inStoredOrder(toStorableJson(type.result({ config, data: state.data })))
    return { config, outputData: objectOf(result, undefined, 'result'), delta: {}, grown: state, exit: '', result }
  }
  if (type.mode === 'fail') return { config, fails: type.failure({ config }) }
  const effort = expressionEffort()
  const evaluate = (text: string) => evaluateText(text, resolved.lookup, effort)
  const done = compute(type, { config, data: state.data, stepId: at.stepId, now, evaluate })
  if (!done) return { begins: config, asked: null }
  return 'signal' in done ? { begins: config, asked: done } : yielded(entry, config, done)
}

/**
 * The state of the walk after a step has returned its output.
 * @throws errors that `failureAtEntry` handles
 */
export function yielded({ state, step, at }: Entry<Position>, config: StepConfig, done: StepOutput): Entered {
  const output = storableOutput(done.output)
  const delta = done.delta && !config.saveAs ? done.delta : deltaOf(output, config.saveAs, step.id)
  const outputData = objectOf(output, config.saveAs, step.id)
  return { config, outputData, delta, grown: withDelta(state, delta, state.ref, at), exit: done.exit ?? 'next' }
}

/**
 * The branches a visit runs.
 * @throws StepFailure
 */
export function fork(type: AnyStep & { mode: 'fork' }, config: StepConfig, { branch }: WalkRef): Forking {
  if (branchesAround(branch).length < MAX_NESTED) return type.fork({ config })
  throw new StepFailure('NESTED_TOO_DEEP', `Branches may be nested at most ${MAX_NESTED} levels deep.`)
}

/** A step's input as history shows it. */
export function inputDataOf(type: AnyStep, config: JsonObject): JsonObject {
  const { name: _name, retry: _retry, maxVisits: _maxVisits, ...rest } = config
  return type.inputData ? type.inputData(config) : rest
}

/** The values for expressions that the step evaluates later, frozen with its configuration. */
export function valuesIn({ $values }: StepConfig): JsonObject {
  return isJsonObject($values) ? $values : {}
}

/**
 * The output of a step that needs neither work nor waiting, the question that it asks a person, or null if it needs
 * work.
 */
function compute(
  type: AnyStep,
  call: { config: StepConfig; data: JsonObject; stepId: string; now: Date; evaluate: (text: string) => JsonValue },
): StepOutput | Asked | null {
  if (type.mode === 'pure') return type.compute(call)
  if (type.mode !== 'pause') return null
  const asked = type.ask({ ...call, values: valuesIn(call.config) })
  if ('output' in asked) return { output: asked.output }
  if (jsonSize([asked.signal, asked.event?.rules ?? null]) <= MAX_QUESTION_BYTES) return asked
  throw new StepFailure('CONFIG_TOO_LARGE', `What the step asks is larger than ${readableSize(MAX_QUESTION_BYTES)}`)
}

/** @throws err itself if the run is not at fault; the engine then tries again */
export function failureAtEntry(err: unknown): { code: string; message: string } {
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
