import { exitOf, mainExit } from '@/server/definition/exits'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { Definition, Edge, Fields, Step } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { connect, pathBetween } from './connect'
import {
  edgeAt,
  edgesFrom,
  entryOf,
  exitsOf,
  fieldNames,
  findStep,
  freeId,
  mainExitOf,
  makeEdge,
  START,
} from './definition'

/** Where a new step goes: after an exit of a step or START, or null for unconnected. */
export type InsertPoint = { after: string; exit: string } | null

/**
 * The nearest point where a step can be inserted: at an exit that exists, and before a step that ends the run, not
 * after it. Null when nothing leads to that step.
 */
export function insertPointFor(definition: Definition, catalog: Catalog, insertPoint: InsertPoint): InsertPoint {
  if (!insertPoint || insertPoint.after === START) return insertPoint
  const source = findStep(definition, insertPoint.after)
  if (!source) return null
  const exits = exitsOf(definition, catalog, insertPoint.after)
  const main = mainExit(exits)
  if (main !== undefined)
    return exits.some(({ id }) => id === insertPoint.exit) ? insertPoint : { after: insertPoint.after, exit: main }
  if (definition.initialStep === insertPoint.after) return { after: START, exit: 'next' }
  const before = definition.edges.find((edge) => edge.to === insertPoint.after)
  return before ? { after: before.from, exit: exitOf(before) } : null
}

/**
 * Adds a step with its type's sample values. If the exit already led to a step, the new one goes in between; a step
 * that ends the run cuts off what followed. START leads to the first step ever added.
 */
export function addStep(
  definition: Definition,
  catalog: Catalog,
  type: string,
  wanted: InsertPoint,
  config: JsonObject = {},
): { definition: Definition; stepId: string } {
  const insertPoint = insertPointFor(definition, catalog, wanted)
  const entry = entryOf(catalog, type)
  const taken = new Set([...definition.steps.map((step) => step.id), ...fieldNames(definition, catalog)])
  const stepId = freeId(type.replaceAll('-', '_'), taken)
  const { id: _id, type: _type, ...defaults } = { ...structuredClone(entry?.sample ?? {}), ...config }
  const steps = insertAfter(definition.steps, insertPoint?.after ?? null, { id: stepId, type, ...defaults })
  const added: Definition = { ...definition, steps, initialStep: definition.initialStep ?? stepId }
  if (!insertPoint) return { definition: added, stepId }
  const followed =
    insertPoint.after === START
      ? definition.initialStep
      : (edgeAt(definition, insertPoint.after, insertPoint.exit)?.to ?? null)
  const connected = connect(added, insertPoint.after, insertPoint.exit, stepId)
  const exit = mainExitOf(added, catalog, stepId)
  if (followed === null || exit === null) return { definition: connected, stepId }
  return { definition: connect(connected, stepId, exit, followed), stepId }
}

function insertAfter(steps: Step[], after: string | null, step: Step): Step[] {
  const at = after === null ? -1 : steps.findIndex((known) => known.id === after)
  if (after === START) return [step, ...steps]
  return at === -1 ? [...steps, step] : steps.toSpliced(at + 1, 0, step)
}

/** @param options.reconnect connects the steps before and after the removed ones; false leaves a gap */
export function removeSteps(
  definition: Definition,
  stepIds: Iterable<string>,
  options: { reconnect: boolean } = { reconnect: true },
): Definition {
  const gone = new Set(stepIds)
  const steps = definition.steps.filter((step) => !gone.has(step.id))
  if (steps.length === definition.steps.length) return definition
  const successorOf = (stepId: string) => (options.reconnect ? firstKept(definition, stepId, gone) : null)
  let edges: Edge[] = definition.edges.filter((edge) => !gone.has(edge.from) && !gone.has(edge.to))
  for (const edge of definition.edges) {
    if (gone.has(edge.from) || !gone.has(edge.to)) continue
    const to = successorOf(edge.to)
    if (to === null || to === edge.from || pathBetween(edges, to, edge.from)) continue
    edges = [...edges, { ...edge, to }]
  }
  const { onCancel, ...rest } = definition
  const cleanup = onCancel !== undefined && gone.has(onCancel) ? successorOf(onCancel) : onCancel
  const { initialStep } = definition
  const start = initialStep !== null && gone.has(initialStep) ? firstKept(definition, initialStep, gone) : initialStep
  return {
    ...rest,
    steps,
    edges: inOrderOf(definition.edges, edges),
    initialStep: start ?? steps[0]?.id ?? null,
    ...(cleanup === undefined || cleanup === null ? {} : { onCancel: cleanup }),
  }
}

/** The first step after the removed ones. */
function firstKept(definition: Definition, stepId: string, gone: ReadonlySet<string>): string | null {
  const seen = new Set<string>()
  for (let at: string | undefined = stepId; at !== undefined && !seen.has(at); ) {
    seen.add(at)
    if (!gone.has(at)) return findStep(definition, at) ? at : null
    at = (edgeAt(definition, at, 'next') ?? edgesFrom(definition, at)[0])?.to
  }
  return null
}

/** Keeps edges in the order their exits had, so that a removal changes as little as possible. */
function inOrderOf(before: Edge[], after: Edge[]): Edge[] {
  const index = (edge: Edge) => before.findIndex((old) => old.from === edge.from && exitOf(old) === exitOf(edge))
  return after.toSorted((a, b) => index(a) - index(b))
}

/** Changes a step's values, never its id (see `renameStep`). `undefined` removes a key. */
export function updateStep(
  definition: Definition,
  stepId: string,
  change: Record<string, JsonValue | undefined>,
): Definition {
  const steps = definition.steps.map((step) => {
    if (step.id !== stepId) return step
    const merged = Object.entries({ ...step, ...change, id: step.id }).filter(([, value]) => value !== undefined)
    return Object.fromEntries(merged) as Step
  })
  return { ...definition, steps }
}

/** Changes a step's type. Keeps fields both types have; removes edges from exits the new type lacks. */
export function changeType(definition: Definition, catalog: Catalog, stepId: string, type: string): Definition {
  const entry = entryOf(catalog, type)
  if (!entry) return definition
  const kept = new Set(['name', 'description', ...entry.common, ...entry.form.map(({ name }) => name)])
  const steps = definition.steps.map((step) => {
    if (step.id !== stepId) return step
    const same = Object.entries(step).filter(([key]) => kept.has(key))
    return { id: stepId, type, ...structuredClone(entry.sample), ...Object.fromEntries(same) } as Step
  })
  const exits = new Set(exitsOf({ ...definition, steps }, catalog, stepId).map(({ id }) => id))
  const edges = definition.edges.filter((edge) => edge.from !== stepId || exits.has(exitOf(edge)))
  return { ...definition, steps, edges }
}

/** Inserts a copy after the step. */
export function duplicateStep(
  definition: Definition,
  catalog: Catalog,
  stepId: string,
): { definition: Definition; stepId: string } | null {
  const step = findStep(definition, stepId)
  if (!step) return null
  const taken = new Set([...definition.steps.map(({ id }) => id), ...fieldNames(definition, catalog)])
  const id = freeId(stepId, taken)
  const copy = { ...structuredClone(step), id } as Step
  const steps = insertAfter(definition.steps, stepId, copy)
  const exit = mainExitOf(definition, catalog, stepId)
  const added = { ...definition, steps }
  if (exit === null) return { definition: added, stepId: id }
  const followed = edgeAt(definition, stepId, exit)?.to
  const connected = connect(added, stepId, exit, id)
  return {
    definition:
      followed === undefined ? connected : { ...connected, edges: [...connected.edges, makeEdge(id, exit, followed)] },
    stepId: id,
  }
}

export function setPayload(definition: Definition, payload: Fields): Definition {
  return { ...definition, payload }
}

/** Sets the step that START leads to. */
export function setInitial(definition: Definition, stepId: string): Definition {
  return { ...definition, initialStep: stepId }
}

/** Sets name, description, business key and the first clean-up step; null removes the key or the clean-up path. */
export function setMeta(
  definition: Definition,
  change: { name?: string; description?: string; onCancel?: string | null; businessKey?: string | null },
): Definition {
  const { onCancel, businessKey, ...rest } = { ...definition, ...change }
  return { ...rest, ...(onCancel == null ? {} : { onCancel }), ...(businessKey == null ? {} : { businessKey }) }
}
