import type { JsonObject, JsonValue } from '@/server/definition/json'
import { exitOf } from '@/server/definition/next-step'
import type { Definition, Edge, Fields, Step } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { connect, pathBetween } from './connect'
import { edgeAt, edgesFrom, entryOf, fieldNames, findStep, freeId, makeEdge, START } from './definition'

/** Where a new step goes: behind a step (or START) at one of its exits, or nowhere yet. */
export type Place = { after: string; exit: string } | null

/**
 * The place a new step can take: before a step that ends the run rather than behind it, at an exit that there is.
 * Null when nothing leads to such a step.
 */
export function openPlace(definition: Definition, catalog: Catalog, place: Place): Place {
  if (!place || place.after === START) return place
  const source = findStep(definition, place.after)
  if (!source) return null
  const exits = entryOf(catalog, source.type)?.exits ?? [place.exit]
  const [first] = exits
  if (first !== undefined) return exits.includes(place.exit) ? place : { after: place.after, exit: first }
  if (definition.initialStep === place.after) return { after: START, exit: 'next' }
  const before = definition.edges.find((edge) => edge.to === place.after)
  return before ? { after: before.from, exit: exitOf(before) } : null
}

/**
 * A new step with what its type begins with. Behind an exit that led somewhere it goes between; a step without ways
 * out takes what followed off the path. The first step of all is where START leads.
 */
export function addStep(
  definition: Definition,
  catalog: Catalog,
  type: string,
  wanted: Place,
  config: JsonObject = {},
): { definition: Definition; stepId: string } {
  const place = openPlace(definition, catalog, wanted)
  const entry = entryOf(catalog, type)
  const taken = new Set([...definition.steps.map((step) => step.id), ...fieldNames(definition, catalog)])
  const stepId = freeId(type.replaceAll('-', '_'), taken)
  const { id: _id, type: _type, ...begun } = { ...structuredClone(entry?.sample ?? {}), ...config }
  const steps = insertAfter(definition.steps, place?.after ?? null, { id: stepId, type, ...begun })
  const added: Definition = { ...definition, steps, initialStep: definition.initialStep ?? stepId }
  if (!place) return { definition: added, stepId }
  const followed =
    place.after === START ? definition.initialStep : (edgeAt(definition, place.after, place.exit)?.to ?? null)
  const connected = connect(added, place.after, place.exit, stepId)
  const [exit] = entry?.exits ?? ['next']
  if (followed === null || exit === undefined) return { definition: connected, stepId }
  return { definition: connect(connected, stepId, exit, followed), stepId }
}

function insertAfter(steps: Step[], after: string | null, step: Step): Step[] {
  const at = after === null ? -1 : steps.findIndex((known) => known.id === after)
  if (after === START) return [step, ...steps]
  return at === -1 ? [...steps, step] : steps.toSpliced(at + 1, 0, step)
}

/** @param options.reconnect leads what came before to what came after; false leaves a gap */
export function removeSteps(
  definition: Definition,
  stepIds: Iterable<string>,
  options: { reconnect: boolean } = { reconnect: true },
): Definition {
  const gone = new Set(stepIds)
  const steps = definition.steps.filter((step) => !gone.has(step.id))
  if (steps.length === definition.steps.length) return definition
  const heir = (stepId: string) => (options.reconnect ? firstKept(definition, stepId, gone) : null)
  let edges: Edge[] = definition.edges.filter((edge) => !gone.has(edge.from) && !gone.has(edge.to))
  for (const edge of definition.edges) {
    if (gone.has(edge.from) || !gone.has(edge.to)) continue
    const to = heir(edge.to)
    if (to === null || to === edge.from || pathBetween(edges, to, edge.from)) continue
    edges = [...edges, { ...edge, to }]
  }
  const { onCancel, ...rest } = definition
  const cleanup = onCancel !== undefined && gone.has(onCancel) ? heir(onCancel) : onCancel
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

/** Where the path goes on behind steps that are being removed. */
function firstKept(definition: Definition, stepId: string, gone: ReadonlySet<string>): string | null {
  const seen = new Set<string>()
  for (let at: string | undefined = stepId; at !== undefined && !seen.has(at); ) {
    seen.add(at)
    if (!gone.has(at)) return findStep(definition, at) ? at : null
    at = (edgeAt(definition, at, 'next') ?? edgesFrom(definition, at)[0])?.to
  }
  return null
}

/** Edges keep the places that edges of the same exit had, so that removing shows as little as possible as a change. */
function inOrderOf(before: Edge[], after: Edge[]): Edge[] {
  const place = (edge: Edge) => before.findIndex((old) => old.from === edge.from && exitOf(old) === exitOf(edge))
  return after.toSorted((a, b) => place(a) - place(b))
}

/** Replaces what a step says; its id stays (`renameStep` changes that). A value of `undefined` takes the key away. */
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

/** The step as another type: what both types' forms have stays, edges of exits it has not go. */
export function changeType(definition: Definition, catalog: Catalog, stepId: string, type: string): Definition {
  const entry = entryOf(catalog, type)
  if (!entry) return definition
  const kept = new Set(['name', 'description', ...entry.common, ...entry.form.map(({ name }) => name)])
  const steps = definition.steps.map((step) => {
    if (step.id !== stepId) return step
    const same = Object.entries(step).filter(([key]) => kept.has(key))
    return { id: stepId, type, ...structuredClone(entry.sample), ...Object.fromEntries(same) } as Step
  })
  const edges = definition.edges.filter((edge) => edge.from !== stepId || entry.exits.includes(exitOf(edge)))
  return { ...definition, steps, edges }
}

/** A copy of a step behind it. */
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
  const [exit] = entryOf(catalog, step.type)?.exits ?? []
  const added = { ...definition, steps }
  if (exit === undefined) return { definition: added, stepId: id }
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

/** The step that START leads to. */
export function setInitial(definition: Definition, stepId: string): Definition {
  return { ...definition, initialStep: stepId }
}

/** Name, description and the first step of the clean-up path; `onCancel: null` takes that away. */
export function setMeta(
  definition: Definition,
  { onCancel, ...meta }: { name?: string; description?: string; onCancel?: string | null },
): Definition {
  const { onCancel: current, ...rest } = definition
  const cleanup = onCancel === undefined ? current : onCancel
  return { ...rest, ...meta, ...(cleanup === null || cleanup === undefined ? {} : { onCancel: cleanup }) }
}
