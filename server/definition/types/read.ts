import { type Reference, referenceText, type Segment, shownName } from '../template'
import { ANY, has, join, KIND, NEVER, typeOf, type ValueType, without, wordsFor } from './type'

/** The result of a reference: `always` if it has a value whenever it is looked up. */
export interface Reading {
  type: ValueType
  always: boolean
}

/** The type of a name. */
export type ReadName = (root: string) => Reading

/** Like `follow` of templates, for types. */
export function readingOf({ root, path, fallback }: Reference, read: ReadName): Reading {
  let here = read(root)
  for (const segment of path) here = into(here, segment)
  if (!fallback) return here
  // Null also counts as missing.
  const type =
    here.always && !has(here.type, 'null') ? here.type : join(without(here.type, KIND.null), typeOf(fallback.value))
  return { type, always: true }
}

function into({ type, always }: Reading, segment: Segment): Reading {
  if (typeof segment === 'number') return { type: has(type, 'array') ? type.items : NEVER, always: false }
  if (!has(type, 'object')) return { type: NEVER, always: false }
  const known = type.props.get(segment)
  if (!known) return { type: type.open ? ANY : NEVER, always: false }
  return { type: known.type, always: always && known.always && type.kinds === KIND.object }
}

/** Why a path can lead to no value. */
export interface DeadEnd {
  message: string
  /** The name that does not exist, and the known names in its place. */
  unknown?: { name: string; known: ReadonlyMap<string, unknown> }
}

/** Why a path can lead to no value; null if it may, or if its first name does not exist. */
export function deadEnd({ root, path, source }: Reference, read: ReadName): DeadEnd | null {
  let here = read(root)
  for (const [at, segment] of path.entries()) {
    const { type } = here
    if (type.kinds === 0) return null
    here = into(here, segment)
    if (here.type.kinds === 0) {
      const { message, ...unknown } = whyNot(referenceText([root, ...path.slice(0, at)]), type, segment)
      return { message: `\${${source}} can never have a value here: ${message}`, ...unknown }
    }
  }
  return null
}

function whyNot(text: string, type: ValueType, segment: Segment): DeadEnd {
  if (typeof segment === 'number' ? has(type, 'array') : has(type, 'object')) {
    if (typeof segment === 'number') return { message: `\${${text}} is an empty list.` }
    return { message: `\${${text}} has no ${shownName(segment)}.`, unknown: { name: segment, known: type.props } }
  }
  return { message: `\${${text}} is ${wordsFor(type)}.` }
}

/** Whether a reference's type is known, rather than possibly anything. */
export function isKnown({ root, path }: Reference, read: ReadName): boolean {
  let here = read(root)
  for (const segment of path) {
    const { type } = here
    const isOpen = typeof segment === 'string' && has(type, 'object') && type.open && !type.props.has(segment)
    if (type === ANY || isOpen) return false
    here = into(here, segment)
  }
  return here.type !== ANY
}
