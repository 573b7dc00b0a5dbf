import { FAILURE_EXITS, fixedExits } from '../definition/exits'
import { graphOf } from '../definition/graph'
import type { JsonObject } from '../definition/json'
import type { AnyStep } from '../steps/define-step'
import type { Place } from './place'
import type { Visit } from './receipt'
import { type Grown, withDelta } from './size'

/** How a walk goes on by an exit for failures. */
interface Caught {
  target: string
  /** The data with `error` in it. */
  grown: Grown
  /** What the record of the step says. */
  columns: { handled: true; exit: string; delta: JsonObject }
}

/** The code of a step that got no answer in time. */
export const TIMED_OUT = 'TIMED_OUT'

/**
 * Where a run goes on after a failure: along the edge that leaves by `error`, or by `timeout` if the step got no answer.
 * Later steps can refer to `${error.code}`, `${error.message}` and `${error.stepId}`.
 */
export function catching(
  place: Place,
  { stepId, visit }: Visit,
  failure: { code: string; message: string; stepId?: string },
): Caught | null {
  // Time for the whole cleanup path is over, not only for this step.
  if (failure.code === 'CLEANUP_TIMED_OUT') return null
  const graph = graphOf(place.definition)
  const exit = failure.code === TIMED_OUT ? 'timeout' : 'error'
  const target = graph.target(stepId, exit)
  if (target === null) return null
  // A second time beyond its bound means that the way out leads back here.
  const bound = graph.step(stepId)?.maxVisits
  if (failure.code === 'LOOP_LIMIT' && visit > Number(bound) + 1) return null
  const delta = { error: { code: failure.code, message: failure.message, stepId: failure.stepId ?? stepId } }
  return { target, grown: withDelta(place, delta), columns: { handled: true, exit, delta } }
}

/** The exit as history shows it: null for a step that has only one besides those for failures. */
export function shownExit(type: AnyStep, exit: string): string | null {
  const fixed = fixedExits(type.exits).filter((id) => !FAILURE_EXITS.includes(id))
  return Array.isArray(type.exits) && fixed.length <= 1 ? null : exit
}
