import { exitOf, FAILURE_EXITS, mainExit } from '@/server/definition/exits'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { Definition, Edge, Fields, Step } from '@/server/definition/schema'
import { optionalSettings } from '@/server/definition/settings'
import type { Catalog } from '@/server/steps/catalog'
import { boundLoop, canConnect, connect, FIRST_BOUND } from './connect'
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
  openExitOf,
  START,
  waysOn,
} from './definition'
import { isObject } from './json-text'
import { freeName, isGiven } from './step-names'

/** Where a new step is inserted: after an exit of a step or START; null leaves it unconnected. */
export type InsertPoint = { after: string; exit: string } | null

/**
 * The nearest point where a step can be inserted: at an existing exit, and before a step that ends the run, not after
 * it. Null if nothing leads to that step.
 */
export function insertPointFor(definition: Definition, catalog: Catalog, insertPoint: InsertPoint): InsertPoint {
  if (!insertPoint || insertPoint.after === START) return insertPoint
  const source = findStep(definition, insertPoint.after)
  if (!source) return null
  const exits = exitsOf(definition, catalog, insertPoint.after)
  const main = mainExit(exits)
  if (main !== undefined)
    return exits.some(({ id }) => id === insertPoint.exit)
      ? insertPoint
      : { after: insertPoint.after, exit: openExitOf(definition, catalog, insertPoint.after) ?? main }
  if (definition.initialStep === insertPoint.after) return { after: START, exit: 'next' }
  const before = definition.edges.find((edge) => edge.to === insertPoint.after)
  return before ? { after: before.from, exit: exitOf(before) } : null
}

/**
 * Adds a step with its type's sample values and title, or with those of `config`. If the exit already led to a step, the new one goes in between;
 * a step that ends the run cuts off what followed. START leads to the first step ever added.
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
  const { id: _id, type: _type, name: _name, ...defaults } = { ...structuredClone(entry?.sample ?? {}), ...config }
  const name = freeName(definition, titleOf(catalog, type, config))
  const steps = insertAfter(definition.steps, insertPoint?.after ?? null, { id: stepId, type, name, ...defaults })
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

/** The name of a new step before it is made unique: its own, or the title of its type. */
export function titleOf(catalog: Catalog, type: string, config: JsonObject): string {
  return typeof config.name === 'string' ? config.name : (entryOf(catalog, type)?.title ?? type)
}

function insertAfter(steps: Step[], after: string | null, step: Step): Step[] {
  const at = after === null ? -1 : steps.findIndex((known) => known.id === after)
  if (after === START) return [step, ...steps]
  return at === -1 ? [...steps, step] : steps.toSpliced(at + 1, 0, step)
}

/**
 * A loop around a removed step keeps its limit.
 * @param options.reconnect connects the steps before and after the removed ones; false leaves a gap
 */
export function removeSteps(
  definition: Definition,
  catalog: Catalog,
  stepIds: Iterable<string>,
  options: { reconnect: boolean } = { reconnect: true },
): Definition {
  const gone = new Set(stepIds)
  const steps = definition.steps.filter((step) => !gone.has(step.id))
  if (steps.length === definition.steps.length) return definition
  const successorOf = (stepId: string) => (options.reconnect ? firstKept(definition, catalog, stepId, gone) : null)
  const bounds = definition.steps.flatMap(({ id, maxVisits }) =>
    gone.has(id) && typeof maxVisits === 'number' ? [maxVisits] : [],
  )
  let left: Definition = {
    ...definition,
    steps,
    edges: definition.edges.filter((edge) => !gone.has(edge.from) && !gone.has(edge.to)),
  }
  for (const edge of definition.edges) {
    if (gone.has(edge.from) || !gone.has(edge.to)) continue
    const to = successorOf(edge.to)
    if (to === null || !canConnect(left, catalog, edge.from, exitOf(edge), to).ok) continue
    const edges = [...left.edges, { ...edge, to }]
    left = boundLoop({ ...left, edges }, edge.from, to, Math.min(FIRST_BOUND, ...bounds))
  }
  const { onCancel, onFailure, ...rest } = definition
  const kept = (id: string | undefined) => (id !== undefined && gone.has(id) ? successorOf(id) : id)
  const { initialStep } = definition
  const start =
    initialStep !== null && gone.has(initialStep) ? firstKept(definition, catalog, initialStep, gone) : initialStep
  return {
    ...rest,
    steps: left.steps,
    edges: inOrderOf(definition.edges, left.edges),
    initialStep: start ?? steps[0]?.id ?? null,
    ...optionalSettings({ ...rest, onCancel: kept(onCancel), onFailure: kept(onFailure) }),
  }
}

const isForward = (edge: Edge) => !FAILURE_EXITS.includes(exitOf(edge))

/** The first step after the removed ones. */
function firstKept(definition: Definition, catalog: Catalog, stepId: string, gone: ReadonlySet<string>): string | null {
  const seen = new Set<string>()
  for (let at: string | undefined = stepId; at !== undefined && !seen.has(at); ) {
    seen.add(at)
    if (!gone.has(at)) return findStep(definition, at) ? at : null
    const main: string = mainExitOf(definition, catalog, at) ?? 'next'
    at = (edgeAt(definition, at, main) ?? edgesFrom(definition, at).find(isForward))?.to
  }
  return null
}

/** Sorts edges in their exits' former order, so that a removal changes as little as possible. */
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

/**
 * Sets a value of a step. Edges, and the numbers of other fields, follow the entries of a list that makes exits:
 * renamed with them, removed with them.
 */
export function setStepValue(
  definition: Definition,
  catalog: Catalog,
  stepId: string,
  name: string,
  value: JsonValue | undefined,
): Definition {
  const before = exitIds(definition, catalog, stepId)
  const changed = updateStep(definition, stepId, { [name]: value })
  const after = exitIds(changed, catalog, stepId)
  const gone = before.filter((id) => !after.includes(id))
  if (gone.length === 0) return changed
  const added = after.filter((id) => !before.includes(id))
  // Only a rename preserves the number of exits.
  const renamed = (exit: string) => (before.length === after.length ? added[gone.indexOf(exit)] : undefined)
  const edges = changed.edges.flatMap((edge) => {
    const exit = exitOf(edge)
    if (edge.from !== stepId || !gone.includes(exit)) return [edge]
    const to = renamed(exit)
    return to === undefined ? [] : [{ ...edge, on: to }]
  })
  const counts = countsOf(changed, catalog, stepId, name).map(([field, numbers]) => {
    const kept = Object.entries(numbers).flatMap(([id, number]): [string, JsonValue][] => {
      const to = gone.includes(id) ? renamed(id) : id
      return to === undefined ? [] : [[to, number]]
    })
    return [field, kept.length === 0 ? undefined : Object.fromEntries(kept)]
  })
  return updateStep({ ...changed, edges }, stepId, Object.fromEntries(counts))
}

/** The step's fields that hold a number for each entry of a list. */
function countsOf(definition: Definition, catalog: Catalog, stepId: string, list: string): [string, JsonObject][] {
  const step = definition.steps.find(({ id }) => id === stepId)
  const form = entryOf(catalog, step?.type ?? '')?.form ?? []
  return form.flatMap((field): [string, JsonObject][] => {
    const value = step?.[field.name]
    return field.widget === 'counts' && field.of === list && isObject(value) ? [[field.name, value]] : []
  })
}

function exitIds(definition: Definition, catalog: Catalog, stepId: string): string[] {
  return exitsOf(definition, catalog, stepId).map(({ id }) => id)
}

/**
 * Changes a step's type. Preserves fields of both types, a name given by a user, and edges from exits of both types;
 * the main path continues at the new type's main exit.
 */
export function changeType(definition: Definition, catalog: Catalog, stepId: string, type: string): Definition {
  const entry = entryOf(catalog, type)
  if (!entry) return definition
  const kept = new Set(['name', 'description', ...entry.common, ...entry.form.map(({ name }) => name)])
  const steps = definition.steps.map((step) => {
    if (step.id !== stepId) return step
    const same = Object.entries(step).filter(([key]) => kept.has(key))
    const given = isGiven(step.name, entryOf(catalog, step.type)?.title ?? step.type)
    const name = given ? { name: freeName(definition, entry.title, stepId) } : {}
    return { id: stepId, type, ...structuredClone(entry.sample), ...Object.fromEntries(same), ...name } as Step
  })
  const changed = { ...definition, steps }
  const exits = exitIds(changed, catalog, stepId)
  const [old, main] = [mainExitOf(definition, catalog, stepId), mainExitOf(changed, catalog, stepId)]
  const moves = old !== null && main !== null && !exits.includes(old) && !edgeAt(definition, stepId, main)
  const edges = definition.edges.flatMap((edge) => {
    if (edge.from !== stepId || exits.includes(exitOf(edge))) return [edge]
    return moves && exitOf(edge) === old ? [makeEdge(stepId, main, edge.to)] : []
  })
  return { ...changed, edges }
}

/**
 * Adds a copy that leads where the step leads. The copy comes after the step, unless the step has several exits: then
 * nothing leads to the copy yet.
 */
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
  const copied = edgesFrom(definition, stepId).map((edge) => ({
    ...structuredClone(edge),
    from: id,
    to: edge.to === stepId ? id : edge.to,
  }))
  const added: Definition = {
    ...definition,
    steps: insertAfter(definition.steps, stepId, copy),
    edges: [...definition.edges, ...copied],
  }
  const [main, ...others] = waysOn(definition, catalog, stepId)
  return { definition: main && others.length === 0 ? connect(added, stepId, main.id, id) : added, stepId: id }
}

export function setPayload(definition: Definition, payload: Fields): Definition {
  return { ...definition, payload }
}
