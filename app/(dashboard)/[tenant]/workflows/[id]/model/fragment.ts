import { isJsonObject, type JsonValue } from '@/server/definition/json'
import { InexactNumber, parseExact } from '@/server/definition/long-numbers'
import type { Definition, Edge, Fields, Step } from '@/server/definition/schema'
import { isCostLimit, isTimeLimit, isTokenLimit, optionalSettings } from '@/server/definition/settings'
import { sameForm } from '@/server/definition/step-id'
import type { Catalog } from '@/server/steps/catalog'
import { canConnect, connect } from './connect'
import {
  asObject,
  edgeAt,
  fieldNames,
  freeStepId,
  mainExitOf,
  nameProblem,
  START,
  stepIdProblem,
  waysOn,
} from './definition'
import { type InsertPoint, insertPointFor } from './edit-steps'
import { referencesIn, rewriteReferences, withStart } from './references'

/** Copied steps as stored on the clipboard. */
export interface Fragment {
  kind: 'workflow-fragment/1'
  steps: Step[]
  edges: Edge[]
  /** The START fields the steps refer to. */
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
  /** The pasted steps. */
  stepIds: string[]
  /** START fields added for them. */
  payloadFields: string[]
}

/**
 * Adds a fragment. Ids in use are replaced, with the references to them; edges to steps outside the fragment are
 * dropped; missing START fields are added. At `wanted` it is connected like a new step.
 */
export function pasteFragment(
  definition: Definition,
  catalog: Catalog,
  fragment: Fragment,
  wanted: InsertPoint = null,
): Pasted {
  const insertPoint = insertPointFor(definition, catalog, wanted)
  const known = new Set(definition.steps.map((step) => step.id))
  const taken = new Set([...known, ...fieldNames(definition, catalog), ...Object.keys(fragment.payloadFields)])
  // A copy shares its original's fields, so only ids must be new.
  const ids = new Map<string, string>()
  for (const { id } of fragment.steps) {
    if (ids.has(id)) continue
    const free = freeStepId(id, taken)
    ids.set(id, free)
    taken.add(free)
  }
  const unique = fragment.steps.filter((step, at) => fragment.steps.findIndex(({ id }) => id === step.id) === at)
  const { steps: rewritten } = rewriteReferences(structuredClone(unique), (reference) => {
    const { root } = reference
    const to = Object.hasOwn(fragment.payloadFields, root) ? undefined : ids.get(root)
    return to === undefined || to === root ? null : withStart(reference, [to])
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
    definition:
      insertPoint && first !== undefined ? insertPath(definition, added, catalog, steps, first, insertPoint) : added,
    stepIds: steps.map(({ id }) => id),
    payloadFields: missing.map(([name]) => name),
  }
}

/** The first step: no other step of the fragment leads to it. */
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
  insertPoint: NonNullable<InsertPoint>,
): Definition {
  const { after, exit } = insertPoint
  const followed = after === START ? before.initialStep : (edgeAt(before, after, exit)?.to ?? null)
  const connected = connect(added, after, exit, first)
  if (followed === null) return connected
  // The path continues from the last step, or from the last one that has a free exit.
  const ends = steps.flatMap(({ id }) => {
    const open = waysOn(added, catalog, id).filter((exit) => !edgeAt(added, id, exit.id))
    const exit = open.find((way) => way.id === mainExitOf(added, catalog, id)) ?? open[0]
    return exit ? [{ id, exit: exit.id, last: !added.edges.some((edge) => edge.from === id) }] : []
  })
  const end = ends.findLast(({ last }) => last) ?? ends.at(-1)
  if (!end || !canConnect(connected, catalog, end.id, end.exit, followed).ok) return connected
  return connect(connected, end.id, end.exit, followed)
}

/** What the clipboard contains. */
export type Clipboard =
  | { kind: 'fragment'; fragment: Fragment }
  /** A whole workflow, which can replace the draft or be added to it. */
  | { kind: 'definition'; definition: Definition }
  | { kind: 'other'; reason: string }

export function readClipboard(text: string): Clipboard {
  let value: JsonValue
  try {
    value = parseExact(text)
  } catch (error) {
    if (error instanceof InexactNumber) return { kind: 'other', reason: `${error.message}.` }
    return { kind: 'other', reason: 'The clipboard does not contain JSON.' }
  }
  const body = asObject(value)
  if (body.kind === 'workflow-fragment/1') {
    const fragment: Fragment = {
      kind: 'workflow-fragment/1',
      steps: stepsIn(body.steps),
      edges: edgesIn(body.edges),
      payloadFields: fieldsIn(body.payloadFields),
    }
    if (fragment.steps.length === 0) return { kind: 'other', reason: 'The clipboard does not contain any steps.' }
    return { kind: 'fragment', fragment }
  }
  if (!Array.isArray(body.steps))
    return { kind: 'other', reason: 'The clipboard contains neither steps nor a workflow.' }
  const steps = stepsIn(body.steps)
  const asText = (field: JsonValue | undefined) => (typeof field === 'string' ? field : '')
  const known = (id: JsonValue | undefined) => steps.find((step) => step.id === sameForm(asText(id)))?.id ?? null
  return {
    kind: 'definition',
    definition: {
      name: asText(body.name),
      description: asText(body.description),
      initialStep: known(body.initialStep) ?? steps[0]?.id ?? null,
      steps,
      edges: edgesIn(body.edges),
      payload: fieldsIn(body.payload),
      ...optionalSettings({
        onCancel: known(body.onCancel),
        onFailure: known(body.onFailure),
        businessKey: asText(body.businessKey).trim(),
        limits: limitsIn(body.limits),
      }),
    },
  }
}

/** The limits that a run may have; others are left out. */
function limitsIn(value: JsonValue | undefined) {
  const { timeoutMs, agents } = isJsonObject(value) ? value : {}
  const { tokens, cost } = isJsonObject(agents) ? agents : {}
  return {
    timeoutMs: isTimeLimit(timeoutMs) ? timeoutMs : undefined,
    agents: { tokens: isTokenLimit(tokens) ? tokens : undefined, cost: isCostLimit(cost) ? cost : undefined },
  }
}

/** A whole workflow as a fragment, to add to another. */
export function fragmentOf(definition: Definition): Fragment {
  const { steps, edges, payload } = definition
  return { kind: 'workflow-fragment/1', steps, edges, payloadFields: payload }
}

/** Replaces the workflow with the pasted one, but preserves its name if the pasted one has none. */
export function replaceWith(definition: Definition, other: Definition): Definition {
  return { ...other, name: other.name.trim() === '' ? definition.name : other.name }
}

function stepsIn(value: JsonValue | undefined): Step[] {
  if (!Array.isArray(value)) return []
  return value
    .map(asObject)
    .filter((step): step is Step => typeof step.type === 'string' && typeof step.id === 'string')
    .map((step) => ({ ...step, id: sameForm(step.id) }))
    .filter((step) => stepIdProblem(step.id) === null && step.type !== '')
}

function edgesIn(value: JsonValue | undefined): Edge[] {
  if (!Array.isArray(value)) return []
  return value
    .map(asObject)
    .filter((edge): edge is Edge => typeof edge.from === 'string' && typeof edge.to === 'string')
    .map((edge) => ({ ...edge, from: sameForm(edge.from), to: sameForm(edge.to) }))
}

function fieldsIn(value: JsonValue | undefined): Fields {
  const fields = Object.entries(asObject(value)).filter(
    ([name, field]) => nameProblem(name) === null && typeof asObject(field).type === 'string',
  )
  return Object.fromEntries(fields) as Fields
}
