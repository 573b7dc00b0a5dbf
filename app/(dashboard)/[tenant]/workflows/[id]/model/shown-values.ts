import { wholeChars } from '@/lib/whole-chars'
import { type JsonObject, type JsonValue, own } from '@/server/definition/json'
import { foundAt, type Lookup, readReference } from '@/server/definition/template'
import type { ScopeEntry } from '@/server/workflows/check/scope'
import { sampleOf } from '../../../_versioned/schema-samples'

/** Where the values beside a form come from: the newest run, made-up samples, or the run with this id. */
export type ValuesSource = 'newest' | 'sample' | (string & {})

/** The run whose values are shown. */
export interface ShownRun {
  id: string
  startTime: string
  /** Whether it came to the step; the values are those at its end otherwise. */
  reached: boolean
}

/** The values that a step's form shows and fills its expressions with. */
export interface ShownValues {
  values: JsonObject
  /** The names that were asked for; of others, nothing is known. */
  names: ReadonlySet<string>
  /** Names with a value that is too large to be here. */
  leftOut: readonly string[]
}

const LAST_CHARS = 120

/** The value of an entry as JSON, cut short; null without one. */
export function lastOf(name: string, values: JsonObject): string | null {
  if (name === '_') return null
  const found = foundAt(readReference(name), lookupOf(values))
  return found === undefined ? null : shortJson(found)
}

/** A value as one line of JSON, cut short. */
export function shortJson(value: JsonValue): string {
  const text = JSON.stringify(value)
  return text.length <= LAST_CHARS ? text : `${wholeChars(text, LAST_CHARS)}…`
}

export function lookupOf(values: JsonObject): Lookup {
  return (root) => (root === '_' ? values : own(values, root))
}

/** A made-up value for every entry, by its type. */
export function sampleValues(entries: readonly ScopeEntry[]): JsonObject {
  const values: JsonObject = {}
  // Deeper entries come after the one that they are a part of.
  for (const { name, type } of entries)
    if (name !== '_') put(values, name, sampleOf({ type: type === 'file' ? 'string' : type }))
  return values
}

function put(values: JsonObject, name: string, value: JsonValue): void {
  const { root, path } = readReference(name)
  const at = [root, ...path].map(String)
  const last = at.pop() ?? root
  let inside = values
  for (const key of at) {
    const next = own(inside, key)
    const object: JsonObject = typeof next === 'object' && next !== null && !Array.isArray(next) ? next : {}
    define(inside, key, object)
    inside = object
  }
  define(inside, last, value)
}

/** Also for a field that is called `__proto__`. */
function define(object: JsonObject, key: string, value: JsonValue): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

/** The names of step outputs and fields that entries begin with. */
export function rootsOfEntries(entries: readonly ScopeEntry[]): string[] {
  const roots = new Set(
    entries.flatMap(({ name, only }) => (name === '_' || only !== undefined ? [] : [readReference(name).root])),
  )
  return [...roots].toSorted()
}

/** The entries that repeat a value under its step's id, where the step also gives it a name of its own. */
export function repeated<E extends ScopeEntry>(entries: readonly E[]): ReadonlySet<E> {
  const ofStep = ({ name, stepId }: E) => stepId !== null && readReference(name).root === stepId
  const named = new Set(
    entries.flatMap((one) => (one.stepId === null || one.only !== undefined || ofStep(one) ? [] : [one.stepId])),
  )
  return new Set(entries.filter((one) => named.has(one.stepId ?? '') && ofStep(one)))
}
