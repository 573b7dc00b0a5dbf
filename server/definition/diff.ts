import { formsOf } from './declared'
import { exitOf } from './exits'
import { isRequired } from './fields'
import { isJsonObject, type JsonObject, type JsonValue } from './json'
import type { Definition, Edge, Field, Step } from './schema'
import { OPTIONAL_SETTINGS } from './settings'

/** A difference; a side is absent if it has no value there. */
export interface FieldChange {
  path: string
  before?: JsonValue
  after?: JsonValue
}

export type ChangeKind = 'added' | 'removed' | 'changed'

export interface StepChange {
  kind: ChangeKind
  stepId: string
  type: string
  /** The step's name, if it has one. */
  name: string | null
  /** The fields that differ, for a step both versions have. */
  fields: FieldChange[]
}

interface EdgeChange {
  kind: ChangeKind
  from: string
  to: string
  exit: string
}

export interface PayloadChange {
  kind: ChangeKind
  name: string
  fields: FieldChange[]
  /** How existing callers break; null if none do. */
  breaking: string | null
}

export interface DefinitionDiff {
  /** Name, description, first step, and the settings that may be absent. */
  meta: FieldChange[]
  steps: StepChange[]
  /** Whether steps, edges or fields are written in another order, which changes no run. */
  reordered: boolean
  edges: EdgeChange[]
  payload: PayloadChange[]
}

/**
 * The differences between two definitions. Steps are matched by id, edges by their ends and exit, START fields by name.
 * Pure: screens use it too.
 */
export function diffDefinitions(before: Definition, after: Definition): DefinitionDiff {
  return {
    meta: (['name', 'description', 'initialStep', ...OPTIONAL_SETTINGS] as const).flatMap((key) =>
      diffValues(before[key], after[key], key),
    ),
    steps: diffSteps(before.steps, after.steps),
    reordered:
      inOtherOrder(
        before.steps.map(({ id }) => id),
        after.steps.map(({ id }) => id),
      ) ||
      inOtherOrder(before.edges.map(edgeKey), after.edges.map(edgeKey)) ||
      fieldsInOtherOrder(before, after),
    edges: diffEdges(before.edges, after.edges),
    payload: diffFields(before.payload, after.payload),
  }
}

/** Whether the items both lists have come in another order. */
function inOtherOrder(before: string[], after: string[]): boolean {
  const [old, kept] = [new Set(before), new Set(after)]
  return before.filter((key) => kept.has(key)).join('\n') !== after.filter((key) => old.has(key)).join('\n')
}

/** The fields each step asks for, in the order people see them. START has no id. */
export function fieldOrder({ payload, steps }: Definition): Map<string, string[]> {
  return new Map([
    ['', Object.keys(payload)],
    ...steps.flatMap(({ id, output }) => (isJsonObject(output) ? [[id, Object.keys(output)] as const] : [])),
    ...steps.flatMap((step) =>
      formsOf(step).flatMap(({ action, fields }) =>
        action === undefined ? [] : [[`${step.id} ${action}`, Object.keys(fields)] as const],
      ),
    ),
  ])
}

function fieldsInOtherOrder(before: Definition, after: Definition): boolean {
  const old = fieldOrder(before)
  return [...fieldOrder(after)].some(([stepId, fields]) => inOtherOrder(old.get(stepId) ?? [], fields))
}

/** The number of differences; 0 when the definitions are equal. */
export function sizeOfDiff({ meta, steps, reordered, edges, payload }: DefinitionDiff): number {
  const changes = meta.length + steps.length + edges.length + payload.length
  return changes === 0 && reordered ? 1 : changes
}

function diffSteps(before: Step[], after: Step[]): StepChange[] {
  const old = new Map(before.map((step) => [step.id, step]))
  const kept = new Set(after.map((step) => step.id))
  const change = (kind: ChangeKind, step: Step, fields: FieldChange[] = []): StepChange => ({
    kind,
    stepId: step.id,
    type: step.type,
    name: typeof step.name === 'string' ? step.name : null,
    fields,
  })
  const changes = after.flatMap((step) => {
    const was = old.get(step.id)
    if (!was) return [change('added', step)]
    const fields = diffValues(was, step)
    return fields.length === 0 ? [] : [change('changed', step, fields)]
  })
  return [...changes, ...before.filter((step) => !kept.has(step.id)).map((step) => change('removed', step))]
}

/** Two edges with the same key are the same edge. */
function edgeKey(edge: Edge): string {
  return JSON.stringify([edge.from, exitOf(edge), edge.to])
}

function diffEdges(before: Edge[], after: Edge[]): EdgeChange[] {
  const change = (kind: ChangeKind, edge: Edge) => ({ kind, from: edge.from, to: edge.to, exit: exitOf(edge) })
  const old = new Map(before.map((edge) => [edgeKey(edge), edge]))
  const kept = new Set(after.map(edgeKey))
  return [
    ...after.flatMap((edge) => {
      const was = old.get(edgeKey(edge))
      if (!was) return [change('added', edge)]
      return diffValues(was, edge).length === 0 ? [] : [change('changed', edge)]
    }),
    ...before.filter((edge) => !kept.has(edgeKey(edge))).map((edge) => change('removed', edge)),
  ]
}

/** What happens to callers whose values no longer fit, and what their values reach. */
export interface Callers {
  fail: string
  reach: string
}

const OF_START: Callers = { fail: 'get 400', reach: 'the run' }

/** The differences of declared fields, with what breaks for callers. */
export function diffFields(
  before: Record<string, Field>,
  after: Record<string, Field>,
  callers: Callers = OF_START,
): PayloadChange[] {
  const changes: PayloadChange[] = []
  for (const [name, field] of Object.entries(after)) {
    const was = Object.hasOwn(before, name) ? before[name] : undefined
    if (!was) {
      const breaking = isRequired(field) ? `Callers that do not send ${name} ${callers.fail}.` : null
      changes.push({ kind: 'added', name, fields: [], breaking })
      continue
    }
    const fields = diffValues(was, field)
    if (fields.length > 0) changes.push({ kind: 'changed', name, fields, breaking: breaks(name, was, field, callers) })
  }
  for (const name of Object.keys(before)) {
    if (Object.hasOwn(after, name)) continue
    const breaking = `What callers send as ${name} no longer reaches ${callers.reach}.`
    changes.push({ kind: 'removed', name, fields: [], breaking })
  }
  return changes
}

function breaks(name: string, before: Field, after: Field, { fail }: Callers): string | null {
  const wider =
    after.type === before.type || after.type === 'any' || (before.type === 'integer' && after.type === 'number')
  if (!wider) return `Callers that send ${name} as ${before.type} ${fail}; it must be ${after.type} now.`
  if (!isRequired(before) && isRequired(after)) return `Callers that do not send ${name} ${fail}.`
  const texts = (options: unknown[] | undefined) => options?.map((option) => JSON.stringify(option))
  const [old, allowed] = [texts(before.options), texts(after.options)]
  if (allowed && (!old || old.some((option) => !allowed.includes(option))))
    return `Callers that send a ${name} which is no longer allowed ${fail}.`
  return null
}

/** Every difference between two JSON values, as deep as both sides are objects or lists. */
export function diffValues(before: JsonValue | undefined, after: JsonValue | undefined, path = ''): FieldChange[] {
  if (Array.isArray(before) && Array.isArray(after)) {
    return Array.from({ length: Math.max(before.length, after.length) }).flatMap((_, i) =>
      diffValues(before[i], after[i], `${path}[${i}]`),
    )
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...keys].flatMap((key) => diffValues(at(before, key), at(after, key), path === '' ? key : `${path}.${key}`))
  }
  if (before === after) return []
  return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }]
}

function at(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
