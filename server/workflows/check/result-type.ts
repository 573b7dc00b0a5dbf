import { asideSteps, edgesBySource, reachable } from '../../definition/paths'
import type { Definition } from '../../definition/schema'
import { join, NEVER, type ValueType } from '../../definition/types/type'
import { findStepType } from '../../steps/registry'
import { type Flow, flowOf } from './flow'
import { endsOf } from './flow-forks'
import { bodiesOf } from './regions'

/** The types of the run data at any time, and of the result. */
export function runTypesOf(definition: Definition, flow: Flow): { data: ValueType; result: ValueType; work: number } {
  const begins = [definition.initialStep, ...asideSteps(definition)].filter((id) => id !== null)
  const reached = new Set(begins.flatMap((first) => [...reachable(definition, first)]))
  const leaving = edgesBySource(definition.edges)
  let data = NEVER
  for (const [at, { id }] of definition.steps.entries()) {
    if (!reached.has(id)) continue
    data = join(data, flow.reads(id)('_').type)
    for (const { exit } of endsOf(definition, at, leaving)) data = join(data, flow.readsAfter(id, exit)('_').type)
  }
  return { data, result: resultTypeOf(definition, flow), work: flow.typeWork() }
}

/**
 * The type of a completed run's result: of each step that ends it, and of all run data where a path ends without such a
 * step.
 */
export function resultTypeOf(definition: Definition, flow: Flow = flowOf(definition)): ValueType {
  const reached = definition.initialStep === null ? new Set<string>() : reachable(definition, definition.initialStep)
  const inBody = new Set(bodiesOf(definition).flatMap(({ steps }) => [...steps]))
  const leaving = edgesBySource(definition.edges)
  let type = NEVER
  for (const [at, { id, type: name }] of definition.steps.entries()) {
    if (!reached.has(id)) continue
    if (findStepType(name)?.mode === 'end') type = join(type, flow.readsAfter(id, '')(id).type)
    // A path within a branch may end anywhere.
    if (inBody.has(id)) continue
    for (const { exit } of endsOf(definition, at, leaving)) type = join(type, flow.readsAfter(id, exit)('_').type)
  }
  return type
}
