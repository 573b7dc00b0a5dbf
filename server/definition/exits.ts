import { isJsonObject } from './json'
import type { Edge, Step } from './schema'

/** The exits of a step type: a fixed list, or one for each entry of a list in the step's configuration and some more. */
export type ExitSpec = readonly string[] | ExitList

export interface ExitList {
  /** The field with the list. */
  from: string
  /** The names of the entries' fields for an exit's id and its label. */
  id: string
  label: string
  plus: readonly string[]
  /** Whether a listed exit without an edge takes `next` instead of ending the path. */
  optional?: boolean
}

export interface Exit {
  id: string
  /** For people. */
  label: string
}

/** Ids that mean the same for every step, so no case and no branch may have them. */
export const RESERVED_EXITS: readonly string[] = [
  'next',
  'error',
  'timeout',
  'default',
  'true',
  'false',
  'each',
  'done',
]

/** Exits that a failing step takes. Without an edge, they fail the run instead of ending the path. */
export const FAILURE_EXITS: readonly string[] = ['error', 'timeout']

const LABELS: Record<string, string> = {
  next: 'Next',
  error: 'On error',
  timeout: 'When time is up',
  default: 'Otherwise',
  true: 'True',
  false: 'False',
  each: 'For each item',
  done: 'Done',
}

/** The exits of a step, in display order. Entries of a list without a usable id have no exit. */
export function exitsOf(spec: ExitSpec, step: Step): Exit[] {
  const fixed = (ids: readonly string[]) =>
    ids.filter((id) => id !== 'timeout' || step.expiresIn !== undefined).map((id) => ({ id, label: LABELS[id] ?? id }))
  if (!isList(spec)) return fixed(spec)
  const entries = Array.isArray(step[spec.from]) ? (step[spec.from] as unknown[]) : []
  const listed = entries.flatMap((entry) => {
    if (!isJsonObject(entry)) return []
    const id = entry[spec.id]
    if (typeof id !== 'string' || id === '' || RESERVED_EXITS.includes(id)) return []
    const label = entry[spec.label]
    return [{ id, label: typeof label === 'string' && label !== '' ? label : id }]
  })
  const once = listed.filter(({ id }, at) => listed.findIndex((exit) => exit.id === id) === at)
  return [...once, ...fixed(spec.plus)]
}

function isList(spec: ExitSpec): spec is ExitList {
  return 'from' in spec
}

/** The exits of a step type regardless of its configuration. */
export function fixedExits(spec: ExitSpec): readonly string[] {
  return isList(spec) ? spec.plus : spec
}

/** Whether steps of a type run branches: then every exit but `done` and those for failures begins one. */
export function isFork(spec: ExitSpec): boolean {
  return fixedExits(spec).includes('done')
}

/** Whether an exit of such a step begins a branch. */
export function beginsBranch(spec: ExitSpec, exit: string): boolean {
  return isFork(spec) && exit !== 'done' && !FAILURE_EXITS.includes(exit)
}

/** Whether an exit may lack an edge and then takes `next`. */
export function fallsToNext(spec: ExitSpec, exit: string): boolean {
  return isList(spec) && spec.optional === true && !spec.plus.includes(exit)
}

/** The exit that the editor continues a path with: `next`, or the first one. Undefined when the step ends the run. */
export function mainExit(exits: readonly Exit[]): string | undefined {
  return (exits.find(({ id }) => id === 'next') ?? exits[0])?.id
}

/** The exit of its step that an edge leaves by. */
export function exitOf(edge: Edge): string {
  return edge.on ?? 'next'
}
