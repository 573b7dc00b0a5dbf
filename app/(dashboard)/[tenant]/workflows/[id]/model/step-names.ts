import type { Definition } from '@/server/definition/schema'
import { findStep, nameOf } from './definition'

/** A step name's maximum length. */
const LONGEST = 200

/** The base of a step's name: its type's title, or the tool, agent or workflow chosen in it. */
export interface Called {
  before: string
  after: string
}

/** A name that no other step has, such as `Call a tool` or `Call a tool 2`. */
export function freeName(definition: Definition, wanted: string, except?: string): string {
  const taken = new Set(definition.steps.filter(({ id }) => id !== except).map(nameOf))
  const name = wanted.slice(0, LONGEST - 5)
  if (!taken.has(name)) return name
  for (let n = 2; ; n++) if (!taken.has(`${name} ${n}`)) return `${name} ${n}`
}

/** Whether the editor generated the name, so that replacing it loses nothing. */
export function isGiven(name: unknown, wanted: string): boolean {
  if (typeof name !== 'string' || wanted === '') return false
  return name === wanted || (name.startsWith(`${wanted} `) && /^\d+$/.test(name.slice(wanted.length + 1)))
}

/** Names a step after the object chosen in it, unless a user has named it. */
export function nameAfter(
  definition: Definition,
  stepId: string,
  title: string,
  { before, after }: Called,
): Definition {
  const name = findStep(definition, stepId)?.name
  if (after === '' || !(isGiven(name, title) || isGiven(name, before))) return definition
  const next = freeName(definition, after, stepId)
  return { ...definition, steps: definition.steps.map((step) => (step.id === stepId ? { ...step, name: next } : step)) }
}
