import { exitOf } from '@/server/interpreter/next-step'
import type { JsonObject, JsonValue } from '@/server/json'
import type { Catalog, CatalogEntry } from '@/server/steps/catalog'
import type { Definition, Edge, Step } from '@/server/workflows/schema'

/** Stands for the START node wherever a step id may; no step can have it as its id. */
export const START = '#start'

export interface Position {
  x: number
  y: number
}

/** Where nodes stand, by step id and for `START`. Kept beside the definition: moving a box changes no workflow. */
export type Layout = Record<string, Position>

export function findStep(definition: Definition, stepId: string): Step | undefined {
  return definition.steps.find((step) => step.id === stepId)
}

export function entryOf(catalog: Catalog, type: string): CatalogEntry | undefined {
  return catalog.steps.find((entry) => entry.type === type)
}

/** What people call a step: its name, else its id. */
export function nameOf(step: Step): string {
  return typeof step.name === 'string' && step.name.trim() !== '' ? step.name : step.id
}

/** What people call a step, or START, by its id. */
export function stepLabel(definition: Definition, stepId: string): string {
  if (stepId === START) return 'START'
  const step = findStep(definition, stepId)
  return step ? nameOf(step) : stepId
}

/** The exits that a step's type has; START has one. */
export function exitsOf(definition: Definition, catalog: Catalog, stepId: string): string[] {
  if (stepId === START) return ['next']
  const step = findStep(definition, stepId)
  return (step && entryOf(catalog, step.type)?.exits) ?? ['next']
}

/** The edge that takes an exit, in the words of the definition. */
export function makeEdge(from: string, exit: string, to: string): Edge {
  if (exit === 'next') return { from, to }
  if (exit === 'error') return { from, to, type: 'error' }
  if (exit.startsWith('case:')) return { from, to, case: exit.slice('case:'.length) }
  if (exit.startsWith('condition:')) return { from, to, condition: exit.slice('condition:'.length) }
  return { from, to, case: exit }
}

export function edgeAt(definition: Definition, from: string, exit: string): Edge | undefined {
  return definition.edges.find((edge) => edge.from === from && exitOf(edge) === exit)
}

export function edgesFrom(definition: Definition, from: string): Edge[] {
  return definition.edges.filter((edge) => edge.from === from)
}

/** What an exit is called on screen; nothing for the plain way on. */
export function exitLabel(exit: string): string {
  return exit === 'next' ? '' : exit.replace(/^(case|condition):/, '')
}

const STEP_ID = /^[A-Za-z_][\w-]{0,99}$/
const RESERVED = ['_', '__proto__', 'prototype', 'constructor']

/** Why text can be no name of a step or field; null when it can. */
export function nameProblem(name: string): string | null {
  if (name === '') return 'A name is needed.'
  if (RESERVED.includes(name)) return `${name} is a reserved name.`
  if (name.length > 100) return 'A name has at most 100 characters.'
  if (!STEP_ID.test(name)) return 'A name begins with a letter or _ and has only letters, digits, _ and -.'
  return null
}

/** Every name that something besides the step's id gives: START fields, declared fields and `saveAs` of steps. */
export function fieldNames(definition: Definition, catalog: Catalog, except?: { stepId: string }): Set<string> {
  const names = new Set(Object.keys(definition.payload))
  for (const step of definition.steps) {
    if (step.id === except?.stepId) continue
    for (const name of declaredBy(step, catalog)) names.add(name)
  }
  return names
}

/** The names that a step's own configuration puts into run data. */
export function declaredBy(step: Step, catalog: Catalog): string[] {
  if (typeof step.saveAs === 'string') return [step.saveAs]
  const maps = entryOf(catalog, step.type)?.form.filter(({ widget }) => widget === 'fields') ?? []
  return maps.flatMap(({ name }) => Object.keys(asObject(step[name])))
}

export function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

/** A free id like `call_tool`, `call_tool_2`; `taken` are names it must not have either. */
export function freeId(wanted: string, taken: ReadonlySet<string>): string {
  const cleaned = wanted.replace(/[^\w]+/g, '_').replace(/^(?=\d)/, '_')
  const base = (nameProblem(cleaned.slice(0, 90)) === null ? cleaned : 'step').slice(0, 90)
  if (!taken.has(base)) return base
  const stem = base.replace(/_\d+$/, '') || base
  for (let n = 2; ; n++) if (!taken.has(`${stem}_${n}`)) return `${stem}_${n}`
}

/** The body of create and PUT: what the server stores, without what it adds. */
export function definitionOf(source: Definition): Definition {
  const { name, description, initialStep, steps, edges, payload, onCancel } = source
  return { name, description, initialStep, steps, edges, payload, ...(onCancel === undefined ? {} : { onCancel }) }
}
