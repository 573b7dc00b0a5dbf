import {
  type Exit,
  exitOf,
  exitsOf as exitsOfStep,
  FAILURE_EXITS,
  fallsToNext,
  mainExit,
} from '@/server/definition/exits'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { Definition, Edge, Step } from '@/server/definition/schema'
import { optionalSettings } from '@/server/definition/settings'
import { isStepId, MAX_STEP_ID } from '@/server/definition/step-id'
import { nameOf } from '@/server/definition/step-name'
import type { Catalog, CatalogEntry } from '@/server/steps/catalog'

export { nameOf }

/** The START node, used as a step id. No step can have this id. */
export const START = '#start'

export interface Position {
  x: number
  y: number
}

/** Node positions by step id, and for `START`. Stored apart from the definition: moving a node changes no workflow. */
export type Layout = Record<string, Position>

export function findStep(definition: Definition, stepId: string): Step | undefined {
  return definition.steps.find((step) => step.id === stepId)
}

export function entryOf(catalog: Catalog, type: string): CatalogEntry | undefined {
  return catalog.steps.find((entry) => entry.type === type)
}

/** The name of a step or START, by its id. */
export function stepLabel(definition: Definition, stepId: string): string {
  if (stepId === START) return 'START'
  const step = findStep(definition, stepId)
  return step ? nameOf(step) : stepId
}

/** The same, from whichever of two definitions has the step: a removed step is only in the earlier one. */
export function labelIn(stepId: string, now: Definition, before: Definition | null): string {
  return stepLabel(findStep(now, stepId) || before === null ? now : before, stepId)
}

const NEXT: Exit[] = [{ id: 'next', label: 'Next' }]

/** The exits of a step, with their labels. START and steps of unknown types have one. */
export function exitsOf(definition: Definition, catalog: Catalog, stepId: string): Exit[] {
  const step = stepId === START ? undefined : findStep(definition, stepId)
  const entry = step && entryOf(catalog, step.type)
  return step && entry ? exitsOfStep(entry.exits, step) : NEXT
}

/** An edge from an exit, as the definition writes it. */
export function makeEdge(from: string, exit: string, to: string): Edge {
  return exit === 'next' ? { from, to } : { from, to, on: exit }
}

export function edgeAt(definition: Definition, from: string, exit: string): Edge | undefined {
  return definition.edges.find((edge) => edge.from === from && exitOf(edge) === exit)
}

export function edgesFrom(definition: Definition, from: string): Edge[] {
  return definition.edges.filter((edge) => edge.from === from)
}

/** The exit at which a path continues: `next`, or the first one. Null if the step ends the run. */
export function mainExitOf(definition: Definition, catalog: Catalog, stepId: string): string | null {
  return mainExit(exitsOf(definition, catalog, stepId)) ?? null
}

/** The exits at which a run continues: all but those for failures. */
export function waysOn(definition: Definition, catalog: Catalog, stepId: string): Exit[] {
  return exitsOf(definition, catalog, stepId).filter(({ id }) => !FAILURE_EXITS.includes(id))
}

/**
 * The default exit for the next step or edge: the main one, or one without a connection. Once one action of a decision
 * has its own connection, the others should get theirs. Null if the step ends the run.
 */
export function openExitOf(definition: Definition, catalog: Catalog, stepId: string): string | null {
  const main = mainExitOf(definition, catalog, stepId)
  if (stepId === START) return main
  const ways = waysOn(definition, catalog, stepId)
  const isOpen = ({ id }: Exit) => !edgeAt(definition, stepId, id)
  const spec = entryOf(catalog, findStep(definition, stepId)?.type ?? '')?.exits
  const actions = spec ? ways.filter(({ id }) => fallsToNext(spec, id)) : []
  if (actions.some((action) => !isOpen(action))) return (actions.find(isOpen) ?? actions[0])?.id ?? main
  const first = ways.find(isOpen)
  return main === null || first === undefined || isOpen({ id: main, label: '' }) ? main : first.id
}

/** An exit's label on screen. An edge may use an exit that its step does not have. */
export function exitLabel(exits: readonly Exit[], exit: string): string {
  return exits.find(({ id }) => id === exit)?.label ?? exit
}

const FIELD_NAME = /^[A-Za-z_][\w-]{0,99}$/
const RESERVED = ['_', '__proto__', 'prototype', 'constructor']

/** Why a text cannot name a step, or null. */
export function stepIdProblem(id: string): string | null {
  if (id === '') return 'Enter an id.'
  if (RESERVED.includes(id)) return `${id} is a reserved name.`
  if ([...id].length > MAX_STEP_ID) return `Use ${MAX_STEP_ID} characters or fewer.`
  return isStepId(id) ? null : 'Use only letters, digits, _, - and .'
}

/** Why a text cannot name a field, or null. */
export function nameProblem(name: string): string | null {
  if (name === '') return 'Enter a name.'
  if (RESERVED.includes(name)) return `${name} is a reserved name.`
  if (name.length > 100) return 'Use 100 characters or fewer.'
  if (!FIELD_NAME.test(name)) return 'Start with a letter or _, then use only letters, digits, _ and -.'
  return null
}

/** The names of START fields, declared fields and `saveAs`: everything but step ids. */
export function fieldNames(definition: Definition, catalog: Catalog, except?: { stepId: string }): Set<string> {
  const names = new Set(except?.stepId === START ? [] : Object.keys(definition.payload))
  for (const step of definition.steps) {
    if (step.id === except?.stepId) continue
    for (const name of declaredBy(step, catalog)) names.add(name)
  }
  return names
}

/** The run data names that a step's own configuration declares. */
export function declaredBy(step: Step, catalog: Catalog): string[] {
  if (typeof step.saveAs === 'string') return [step.saveAs]
  const maps = entryOf(catalog, step.type)?.form.filter(({ declares }) => declares) ?? []
  return maps.flatMap(({ name }) => Object.keys(asObject(step[name])))
}

export function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

/** An unused id such as `call_tool` or `call_tool_2`. */
export function freeId(wanted: string, taken: ReadonlySet<string>): string {
  const cleaned = wanted.replace(/[^\w]+/g, '_').replace(/^(?=\d)/, '_')
  const base = (nameProblem(cleaned.slice(0, 90)) === null ? cleaned : 'step').slice(0, 90)
  return numbered(base, taken)
}

/** The same for a step's id, which allows more characters: `7f3c-b` or `7f3c-b_2`. */
export function freeStepId(wanted: string, taken: ReadonlySet<string>): string {
  if (stepIdProblem(wanted) !== null) return freeId(wanted, taken)
  return taken.has(wanted) ? numbered([...wanted].slice(0, MAX_STEP_ID - 10).join(''), taken) : wanted
}

function numbered(base: string, taken: ReadonlySet<string>): string {
  if (!taken.has(base)) return base
  const stem = base.replace(/_\d+$/, '') || base
  for (let n = 2; ; n++) if (!taken.has(`${stem}_${n}`)) return `${stem}_${n}`
}

/** The body of create and PUT, without the fields that the server adds. */
export function definitionOf(source: Definition): Definition {
  const { name, description, initialStep, steps, edges, payload } = source
  return {
    name,
    description,
    initialStep,
    steps,
    edges,
    payload,
    ...optionalSettings(source),
  }
}
