export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }
export type JsonObject = { [key: string]: JsonValue }

/** A value that `JSON.stringify` writes unchanged, except that it leaves out undefined fields. */
export type JsonLike = string | number | boolean | null | undefined | JsonLike[] | { [key: string]: JsonLike }

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An object's own property, or undefined; never an inherited one. */
export function own<T>(record: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

const encoder = new TextEncoder()
/** Short texts are encoded here for counting, so that nothing is allocated for each. */
const scratch = new Uint8Array(16 * 1024)

/** The length of a value's JSON text in UTF-8 bytes. */
export function jsonSize(value: JsonValue): number {
  const text = JSON.stringify(value)
  // A UTF-16 unit takes three bytes at most.
  if (text.length * 3 <= scratch.length) return encoder.encodeInto(text, scratch).written
  return encoder.encode(text).length
}

/** A text that is the same for equal values, regardless of the order of their keys. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const entries = Object.keys(value).sort()
  return `{${entries.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join()}}`
}

/**
 * The same value with object keys in the order of `jsonb`: shorter first, then by bytes. A walk then sees the same texts
 * whether it carries its data in memory or reads it back.
 */
export function inStoredOrder(value: JsonObject): JsonObject
export function inStoredOrder(value: JsonValue): JsonValue
export function inStoredOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => inStoredOrder(item))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(storedEntries(value).map(([name, item]) => [name, inStoredOrder(item)]))
}

/** An object's own names in stored order; its values stay as they are. */
export function fieldsInStoredOrder(value: JsonObject): JsonObject {
  return Object.fromEntries(storedEntries(value))
}

const ASCII = /^[ -~]*$/

function storedEntries(value: JsonObject): [string, JsonValue][] {
  const entries = Object.entries(value)
  if (entries.length < 2) return entries
  // One byte for each character.
  if (entries.every(([name]) => ASCII.test(name)))
    return entries.sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
  return entries
    .map((entry) => ({ entry, bytes: encoder.encode(entry[0]) }))
    .sort((a, b) => a.bytes.length - b.bytes.length || compareBytes(a.bytes, b.bytes))
    .map(({ entry }) => entry)
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const at = a.findIndex((byte, index) => byte !== b[index])
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}

/** The first `max` UTF-16 units of a text, or one fewer rather than half a character, which cannot be stored. */
export function cutText(text: string, max: number): string {
  const cut = text.slice(0, max)
  return cut.length < text.length && /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}

/** A path as people write it: `steps[2].args.name`. */
export function pathText(path: readonly PropertyKey[], prefix = ''): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? String(key) : `${text}.${String(key)}`
  }, prefix)
}

/** The JSON type of a value, named as in a field's `type`. */
export function typeName(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g
const MAX_DEPTH = 200

/** A value is nested deeper than can be stored. */
export class TooDeep extends RangeError {
  override name = 'TooDeep'
}

/**
 * Makes any value storable as `jsonb`: values JSON cannot express become null, NUL and lone surrogates become U+FFFD,
 * `__proto__` keys are dropped. For values that steps produce; callers' values are refused instead.
 * @throws TooDeep when the value is nested deeper than 200 levels or contains itself
 */
export function toStorableJson(value: string): string
export function toStorableJson(value: unknown[]): JsonValue[]
export function toStorableJson(value: Record<string, unknown>): JsonObject
export function toStorableJson(value: unknown): JsonValue
export function toStorableJson(value: unknown): JsonValue {
  return storable(value, 0)
}

function storable(value: unknown, depth: number): JsonValue {
  if (depth > MAX_DEPTH) throw new TooDeep(`The value is nested deeper than ${MAX_DEPTH} levels.`)
  if (typeof value === 'string') return cleanText(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'boolean') return value
  if (value === null || typeof value !== 'object') return null
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (Array.isArray(value)) return value.map((item) => storable(item, depth + 1))
  const clean: JsonObject = {}
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__' || item === undefined || typeof item === 'function' || typeof item === 'symbol') continue
    clean[cleanText(key)] = storable(item, depth + 1)
  }
  return clean
}

function cleanText(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD').replace(LONE_SURROGATE, '\uFFFD')
}

const SCAN_LONE_SURROGATE = new RegExp(LONE_SURROGATE.source)

/**
 * The first unstorable part of the value, as a path and a reason, or null. The parser's depth limit bounds the
 * recursion.
 */
export function unstorable(value: JsonLike, path = ''): { path: string; message: string } | null {
  const found = findUnstorable(value)
  if (!found) return null
  const text = found.at.reduceRight<string>((before, segment) => {
    if (typeof segment === 'number') return `${before}[${segment}]`
    return before === '' ? segment : `${before}.${segment}`
  }, path)
  return { path: text, message: found.message }
}

/** The path is built from the inside out, and only once a problem is found. */
type Unstorable = { at: (string | number)[]; message: string }

function findUnstorable(value: JsonLike): Unstorable | null {
  if (typeof value === 'string') {
    if (value.includes('\u0000')) return { at: [], message: 'contains a NUL character' }
    if (SCAN_LONE_SURROGATE.test(value)) return { at: [], message: 'contains a lone surrogate' }
    return null
  }
  if (typeof value === 'number') return Number.isFinite(value) ? null : { at: [], message: 'is not a finite number' }
  if (value === null || value === undefined || typeof value === 'boolean') return null
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = findUnstorable(value[index])
      if (found) return under(index, found)
    }
    return null
  }
  for (const [key, item] of Object.entries(value)) {
    const found = findUnstorable(key) ?? findUnstorable(item)
    if (found) return under(key, found)
  }
  return null
}

function under(segment: string | number, found: Unstorable): Unstorable {
  found.at.push(segment)
  return found
}
