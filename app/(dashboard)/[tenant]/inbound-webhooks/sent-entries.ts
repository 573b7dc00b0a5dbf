import { isJsonObject, type JsonValue } from '@/server/definition/json'
import type { FieldType } from '@/server/definition/schema'
import { isNameable, referenceText } from '@/server/definition/template'
import { shortJson } from '../workflows/[id]/model/shown-values'
import type { ScopeEntry } from '../workflows/[id]/widgets/scope-context'

/** The known parts of a delivery. */
export interface Known {
  body: JsonValue | undefined
  headers: Record<string, string>
  query: Record<string, string | string[]>
}

/** `body` counts as one. */
const MAX_DEPTH = 4
const MAX = 200

/**
 * The values that an inbound webhook's expressions can name: the parts of any delivery and the content of the last one.
 */
export function entriesOfLast({ body, headers, query }: Known): ScopeEntry[] {
  const from = 'the last delivery'
  return [
    ...(body === undefined ? [entry('body', 'any', { from })] : listed(['body'], body, from)),
    ...listed(['headers'], headers, from),
    ...listed(['query'], query, from),
  ].slice(0, MAX)
}

/** The same before the first delivery. Its body will most likely have the names of the START fields. */
export function entriesOfAny(fields: readonly (readonly [name: string, type: FieldType])[]): ScopeEntry[] {
  const from = 'the delivery'
  return [
    entry('body', 'any', { from }),
    ...fields.map(([name, type]) => entry(`body.${name}`, type, { from, maybe: true })),
    entry('headers', 'object', { from }),
    entry('query', 'object', { from }),
  ]
}

function listed(path: readonly [string, ...string[]], value: JsonValue, from: string): ScopeEntry[] {
  const own = entry(referenceText(path), typeOf(value), { from, last: shortJson(value) })
  const inside = isJsonObject(value) && path.length < MAX_DEPTH ? Object.entries(value) : []
  const named = inside.filter(([key]) => isNameable(key))
  return [own, ...named.flatMap(([key, part]) => listed([...path, key], part, from))]
}

function entry(
  name: string,
  type: FieldType,
  { from, maybe = false, last = null }: { from: string; maybe?: boolean; last?: string | null },
): ScopeEntry {
  return { name, type, description: null, from: 'step', stepId: from, maybe, last }
}

function typeOf(value: JsonValue): FieldType {
  if (value === null) return 'any'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'string' || typeof value === 'boolean' ? (typeof value as 'string' | 'boolean') : 'object'
}
