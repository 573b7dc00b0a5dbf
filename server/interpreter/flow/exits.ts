import { FAILURE_EXITS, fallsToNext, fixedExits, RESERVED_EXITS } from '../../definition/exits'
import { graphOf } from '../../definition/graph'
import type { JsonObject } from '../../definition/json'
import type { Failing } from '../../definition/run'
import type { Definition } from '../../definition/schema'
import { MAIN_BRANCH, type Visit } from '../../run-store/names'
import type { WalkData } from '../../run-store/walk-data'
import type { AnyStep } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
import { withDelta } from './sizes'
import type { Position } from './types'

/** How a walk continues at an exit for failures. */
interface Caught {
  target: string
  /** The data with `error` in it. */
  grown: WalkData
  /** The columns of the step's record. */
  columns: { handled: true | null; exit: string | null; delta: JsonObject }
  /** Set if the run still fails once its failure path has ended. */
  failing: Failing | null
}

/** The code of a step that got no answer in time. */
export const TIMED_OUT = 'TIMED_OUT'

/**
 * Where a run continues after a failure: along the `error` edge, along the `timeout` edge if the step got no answer,
 * or, without such an edge, along its failure path. Later steps can refer to `${error.code}`, `${error.message}` and
 * `${error.stepId}`.
 */
export function catching(state: Position, at: Visit, failure: Cause): Caught | null {
  const { stepId, visit } = at
  // The time limit of the whole cleanup path has passed, not only that of this step.
  if (failure.code === 'CLEANUP_TIMED_OUT') return null
  const graph = graphOf(state.definition)
  const exits = findStepType(graph.step(stepId)?.type ?? '')?.exits
  const exit = failure.code === TIMED_OUT && exits && fixedExits(exits).includes('timeout') ? 'timeout' : 'error'
  const target = graph.target(stepId, exit)
  if (target === null) return failurePath(state, at, failure)
  // If it exceeds its limit a second time, the exit leads back here.
  const bound = graph.step(stepId)?.maxVisits
  if (failure.code === 'LOOP_LIMIT' && visit > Number(bound) + 1) return failurePath(state, at, failure)
  const delta = { error: errorOf(stepId, failure) }
  return {
    target,
    grown: withDelta(state, delta, state.ref, at),
    columns: { handled: true, exit, delta },
    failing: null,
  }
}

/** Where a failing run continues: along its failure path, with `error` in its data; then it ends. */
export function failurePath(state: Position, at: Visit, failure: Cause): Caught | null {
  const { definition, run, ref, own } = state
  const target = definition.onFailure
  // In a branch, the failure is passed to its fork. On a cleanup or failure path, it ends that path.
  if (target === undefined || own !== null || ref.branch !== MAIN_BRANCH || run.failing || run.cancelRequestedAt)
    return null
  const error = errorOf(at.stepId, failure)
  const outcome = failure.outcome ?? (failure.code === TIMED_OUT ? 'timed_out' : 'failed')
  const columns = { handled: null, exit: null, delta: { error } }
  return { target, grown: withDelta(state, { error }, ref, at), columns, failing: { ...error, outcome } }
}

/** The state of a walk after a failure that was caught. */
export function afterCatch<P extends Position>(state: P, { grown, failing }: Caught): P {
  return { ...state, ...grown, ...(failing ? { run: { ...state.run, failing } } : {}) }
}

/** A failure, with the branch's failed step if that is another one, and the outcome of the run. */
interface Cause {
  code: string
  message: string
  stepId?: string
  outcome?: 'failed' | 'timed_out'
}

function errorOf(stepId: string, failure: Cause): { code: string; message: string; stepId: string } {
  // In stored order, like all run data in memory.
  return { code: failure.code, stepId: failure.stepId ?? stepId, message: failure.message }
}

/** The exit that an answer takes: its own if that has an edge, otherwise `next`. */
export function exitOfAnswer(
  definition: Definition,
  type: AnyStep,
  stepId: string,
  exit: string | undefined,
): { exit: string | null; next: string | null } {
  const graph = graphOf(definition)
  const own = exit !== undefined && !RESERVED_EXITS.includes(exit) && fallsToNext(type.exits, exit)
  if (own && graph.stops(stepId, exit)) return { exit, next: null }
  const target = own ? graph.target(stepId, exit) : null
  return target === null ? { exit: null, next: graph.target(stepId, 'next') } : { exit: exit ?? null, next: target }
}

/** The exit as history shows it: null for a step that has only one, apart from exits for failures. */
export function shownExit(type: AnyStep, exit: string): string | null {
  const fixed = fixedExits(type.exits).filter((id) => !FAILURE_EXITS.includes(id))
  return Array.isArray(type.exits) && fixed.length <= 1 ? null : exit
}
