import type { JsonValue } from '@/server/definition/json'
import type { Definition, Edge, Fields, Step } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { connect } from './connect'
import { asObject, edgeAt, entryOf, fieldNames, freeId, nameProblem, START } from './definition'
import { openPlace, type Place } from './edit-steps'
import { referencesIn, rewriteReferences } from './references'

/** Steps on their way through the clipboard: to another workflow, window or text editor. */
export interface Fragment {
  kind: 'workflow-fragment/1'
  steps: Step[]
  edges: Edge[]
  /** The START fields that the steps name. */
  payloadFields: Fields
}

/** The steps, the edges between them and the START fields they use. */
export function copySteps(definition: Definition, stepIds: Iterable<string>): Fragment {
  const wanted = new Set(stepIds)
  const steps = definition.steps.filter((step) => wanted.has(step.id))
  const roots = new Set(referencesIn({ ...definition, steps }).map(({ reference }) => reference.root))
  return {
    kind: 'workflow-fragment/1',
    steps: structuredClone(steps),
    edges: structuredClone(definition.edges.filter((edge) => wanted.has(edge.from) && wanted.has(edge.to))),
    payloadFields: Object.fromEntries(Object.entries(definition.payload).filter(([name]) => roots.has(name))),
  }
}

export interface Pasted {
  definition: Definition
  /** The new steps, to be selected. */
  stepIds: string[]
  /** START fields that were added for them. */
  payloadFields: string[]
}

/**
 * Adds a fragment: ids that are taken get new ones, references inside it follow them, edges to steps that did not come
 * along are dropped, START fields that are missing come along. Behind `wanted` it is connected as a new step would be.
 */
export function pasteFragment(
  definition: Definition,
  catalog: Catalog,
  fragment: Fragment,
  wanted: Place = null,
): Pasted {
  const place = openPlace(definition, catalog, wanted)
  const known = new Set(definition.steps.map((step) => step.id))
  const taken = new Set([...known, ...fieldNames(definition, catalog), ...Object.keys(fragment.payloadFields)])
  // A copy has the same fields as what it was copied from, so only ids must be new.
  const ids = new Map<string, string>()
  for (const { id } of fragment.steps) {
    if (ids.has(id)) continue
    const free = freeId(id, taken)
    ids.set(id, free)
    taken.add(free)
  }
  const unique = fragment.steps.filter((step, at) => fragment.steps.findIndex(({ id }) => id === step.id) === at)
  const { steps: rewritten } = rewriteReferences(structuredClone(unique), ({ root }) => {
    const to = Object.hasOwn(fragment.payloadFields, root) ? undefined : ids.get(root)
    return to === undefined || to === root ? null : { text: to, length: root.length }
  })
  const steps = rewritten.map((step) => ({ ...step, id: ids.get(step.id) ?? step.id }))
  const edges = fragment.edges.flatMap((edge) => {
    const [from, to] = [ids.get(edge.from), ids.get(edge.to)]
    return from === undefined || to === undefined ? [] : [{ ...structuredClone(edge), from, to }]
  })
  const missing = Object.entries(fragment.payloadFields).filter(([name]) => !Object.hasOwn(definition.payload, name))
  const first = firstOf(steps, edges)
  const added: Definition = {
    ...definition,
    steps: [...definition.steps, ...steps],
    edges: [...definition.edges, ...edges],
    payload: { ...definition.payload, ...Object.fromEntries(missing) },
    initialStep: definition.initialStep ?? first ?? null,
  }
  return {
    definition: place && first !== undefined ? insertPath(definition, added, catalog, steps, first, place) : added,
    stepIds: steps.map(({ id }) => id),
    payloadFields: missing.map(([name]) => name),
  }
}

/** The step of a fragment that nothing of it leads to. */
function firstOf(steps: Step[], edges: Edge[]): string | undefined {
  const led = new Set(edges.map((edge) => edge.to))
  return (steps.find((step) => !led.has(step.id)) ?? steps[0])?.id
}

function insertPath(
  before: Definition,
  added: Definition,
  catalog: Catalog,
  steps: Step[],
  first: string,
  place: NonNullable<Place>,
): Definition {
  const { after, exit } = place
  const followed = after === START ? before.initialStep : (edgeAt(before, after, exit)?.to ?? null)
  const connected = connect(added, after, exit, first)
  const left = new Set(added.edges.map((edge) => edge.from))
  const last = steps.findLast((step) => !left.has(step.id))
  const [out] = (last && entryOf(catalog, last.type)?.exits) ?? []
  return last && out !== undefined && followed !== null ? connect(connected, last.id, out, followed) : connected
}

/** What a text from the clipboard is. */
export type Clipboard =
  | { kind: 'fragment'; fragment: Fragment }
  /** The body of create or PUT: offer to replace or to add. */
  | { kind: 'definition'; definition: Definition }
  | { kind: 'other'; reason: string }

export function readClipboard(text: string): Clipboard {
  let value: JsonValue
  try {
    value = JSON.parse(text) as JsonValue
  } catch {
    return { kind: 'other', reason: 'The clipboard holds no JSON.' }
  }
  const body = asObject(value)
  if (body.kind === 'workflow-fragment/1') {
    const fragment: Fragment = {
      kind: 'workflow-fragment/1',
      steps: stepsIn(body.steps),
      edges: edgesIn(body.edges),
      payloadFields: fieldsIn(body.payloadFields),
    }
    if (fragment.steps.length === 0) return { kind: 'other', reason: 'The clipboard holds no steps.' }
    return { kind: 'fragment', fragment }
  }
  if (!Array.isArray(body.steps)) return { kind: 'other', reason: 'The clipboard holds no steps and no workflow.' }
  const steps = stepsIn(body.steps)
  const asText = (field: JsonValue | undefined) => (typeof field === 'string' ? field : '')
  const initialStep = steps.some((step) => step.id === body.initialStep) ? asText(body.initialStep) : steps[0]?.id
  return {
    kind: 'definition',
    definition: {
      name: asText(body.name),
      description: asText(body.description),
      initialStep: initialStep ?? null,
      steps,
      edges: edgesIn(body.edges),
      payload: fieldsIn(body.payload),
      ...(steps.some((step) => step.id === body.onCancel) ? { onCancel: asText(body.onCancel) } : {}),
    },
  }
}

/** A whole workflow as a fragment, for adding it to another. */
export function fragmentOf(definition: Definition): Fragment {
  const { steps, edges, payload } = definition
  return { kind: 'workflow-fragment/1', steps, edges, payloadFields: payload }
}

/** The pasted workflow in place of this one; its name stays when the other has none. */
export function replaceWith(definition: Definition, other: Definition): Definition {
  return { ...other, name: other.name.trim() === '' ? definition.name : other.name }
}

function stepsIn(value: JsonValue | undefined): Step[] {
  if (!Array.isArray(value)) return []
  return value
    .map(asObject)
    .filter((step): step is Step => typeof step.type === 'string' && typeof step.id === 'string')
    .filter((step) => nameProblem(step.id) === null && step.type !== '')
}

function edgesIn(value: JsonValue | undefined): Edge[] {
  if (!Array.isArray(value)) return []
  return value
    .map(asObject)
    .filter((edge): edge is Edge => typeof edge.from === 'string' && typeof edge.to === 'string')
}

function fieldsIn(value: JsonValue | undefined): Fields {
  const fields = Object.entries(asObject(value)).filter(
    ([name, field]) => nameProblem(name) === null && typeof asObject(field).type === 'string',
  )
  return Object.fromEntries(fields) as Fields
}
