import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'
import { SCHEMAS } from './definitions'

// Inputs that are as expensive as their limits allow, made from the schemas with which the verbs parse their input.

/** One input of an operation. */
export interface Hostile {
  what: string
  /** A valid input of the same operation, with a hostile part. */
  input(seed: JsonObject): JsonObject
}

/** A text without a limit of its own: the rest of a body of 1 MiB. */
const LONGEST = 900_000
/** As many values as a body may have, minus some for its other parts. */
const MAX_VALUES = 45_000
const MAX_KEYS = 9_000
const DEEPEST = 50

/** Patterns of texts that parsers, renderers and expressions find hard, repeated up to a length. */
const TEXTS: Record<string, string> = {
  'near misses': '${stepp.totall ?? "b"} ',
  'opened references': '${',
  'opened brackets': '[{"a":(',
  'unfinished links': '[a](*b **c > ` ',
  lists: '\n - a\n|-',
  'spaces and commas': ' \t,',
  repeats: '(a+)+(?i)[\\p{L}]{9}',
  letters: 'a',
  'combining marks': 'e\u0301',
  backslashes: '\\"',
}

function repeated(text: string, length: number): string {
  return text.repeat(Math.max(1, Math.floor(length / text.length))).slice(0, length)
}

function deep(levels: number): JsonValue {
  let value: JsonValue = 'a'
  for (let level = 0; level < levels; level++) value = level % 2 ? { a: value } : [value]
  return value
}

/** Values where any JSON may stand. */
const ANY: Record<string, () => JsonValue> = {
  'many deep values': () => Array.from({ length: 800 }, () => deep(DEEPEST)),
  'many keys': () => Object.fromEntries(Array.from({ length: MAX_KEYS }, (_, n) => [`key_${n}`, n])),
  'many references': () => Array.from({ length: 20_000 }, (_, n) => `\${stepp_${n}.totall.valu}`),
  'a schema of wide patterns': () => SCHEMAS['of 60 wide patterns'] ?? null,
  'a schema of nested lists': () => SCHEMAS['of nested lists'] ?? null,
  'a long text': () => repeated(TEXTS['unfinished links'] ?? '', LONGEST),
}
/** Inputs that reach even an operation that parses none of it. */
const UNKNOWN = ['many deep values', 'many keys', 'a long text']

/** A schema as `z.toJSONSchema` writes it. */
type Schema = JsonObject

/** A place in an input, and the value to put there. */
interface Change {
  what: string
  at: (string | number)[]
  value: () => JsonValue
}

const MAX_LEVELS = 6

/** All changes of a valid value that its schema allows, or nearly does. */
function* changesOf(
  root: Schema,
  schema: Schema,
  at: Change['at'],
  seed: JsonValue | undefined,
  level = 0,
): Generator<Change> {
  if (level > MAX_LEVELS) return
  const where = at.join('.') || 'the input'
  const ref = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined
  if (ref !== undefined) {
    const named = ref === '#' ? root : (root.$defs as Record<string, Schema> | undefined)?.[ref]
    if (named) yield* changesOf(root, named, at, seed, level + 1)
    return
  }
  for (const key of ['anyOf', 'oneOf', 'allOf'])
    for (const one of (schema[key] ?? []) as Schema[]) yield* changesOf(root, one, at, seed, level + 1)
  if (schema.const !== undefined || schema.enum !== undefined) return
  if (schema.type === 'string') yield* textsFor(schema, where, at, seed)
  else if (schema.type === 'array') yield* listsFor(root, schema, at, seed, level)
  else if (schema.type === 'object') yield* objectsFor(root, schema, at, seed, level)
  else if (schema.type === undefined && !schema.anyOf && !schema.oneOf && !schema.allOf)
    for (const [name, value] of Object.entries(ANY)) yield { what: `${where}: ${name}`, at, value }
}

function* textsFor(
  { maxLength, pattern, format }: Schema,
  where: string,
  at: Change['at'],
  seed: JsonValue | undefined,
): Generator<Change> {
  const length = Math.min(LONGEST, Number(maxLength ?? LONGEST))
  // Short texts cost nothing, with any content.
  const names = length < 2_000 || pattern || format ? ['letters'] : Object.keys(TEXTS)
  for (const name of names)
    yield { what: `${where}: ${length} characters of ${name}`, at, value: () => repeated(TEXTS[name] ?? '', length) }
  if (pattern || format)
    yield {
      what: `${where}: a text that nearly fits`,
      at,
      value: () => `${repeated(String(seed ?? 'a'), LONGEST / 4)}!`,
    }
}

function* listsFor(
  root: Schema,
  schema: Schema,
  at: Change['at'],
  seed: JsonValue | undefined,
  level: number,
): Generator<Change> {
  const items = (schema.items ?? {}) as Schema
  const first = Array.isArray(seed) ? seed[0] : undefined
  const item = first ?? sample(root, items)
  const per = JSON.stringify(item ?? null).length
  const most = Math.min(
    Number(schema.maxItems ?? MAX_VALUES),
    Math.floor(LONGEST / (per + 12)),
    Math.floor(MAX_VALUES / (1 + valuesIn(item))),
  )
  yield {
    what: `${at.join('.')}: ${most} items`,
    at,
    value: () => Array.from({ length: most }, (_, n) => distinct(item, n)),
  }
  for (const { what, at: below, value } of changesOf(root, items, [...at, 0], item, level + 1))
    yield { what, at, value: () => [put(item, below.slice(at.length + 1), value())] }
}

function* objectsFor(
  root: Schema,
  schema: Schema,
  at: Change['at'],
  seed: JsonValue | undefined,
  level: number,
): Generator<Change> {
  const known = (schema.properties ?? {}) as Record<string, Schema>
  const given = isJsonObject(seed) ? seed : {}
  for (const [name, field] of Object.entries(known))
    yield* changesOf(root, field, [...at, name], given[name], level + 1)
  const more = schema.additionalProperties
  if (!isJsonObject(more)) return
  const value = Object.values(given)[0] ?? sample(root, more)
  const most = Math.min(MAX_KEYS, Math.floor(MAX_VALUES / (1 + valuesIn(value))))
  yield {
    what: `${at.join('.')}: ${most} fields`,
    at,
    value: () => Object.fromEntries(Array.from({ length: most }, (_, n) => [`field_${n}`, value])),
  }
  yield* changesOf(root, more, [...at, 'field'], value, level + 1)
}

function valuesIn(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 1
  return 1 + Object.values(value).reduce<number>((sum, one) => sum + valuesIn(one), 0)
}

/** Many equal items may be refused for that. */
function distinct(item: JsonValue | undefined, n: number): JsonValue {
  if (typeof item === 'string') return `${item}_${n}`
  if (!isJsonObject(item)) return item ?? n
  return { ...item, ...(typeof item.id === 'string' ? { id: `${item.id}_${n}` } : {}) }
}

/** A small value that fits. */
function sample(root: Schema, schema: Schema, level = 0): JsonValue {
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null
  if (typeof schema.$ref === 'string') {
    const named = (root.$defs as Record<string, Schema> | undefined)?.[schema.$ref.split('/').at(-1) ?? '']
    return named && level < MAX_LEVELS ? sample(root, named, level + 1) : null
  }
  const [variant] = [...((schema.anyOf ?? []) as Schema[]), ...((schema.oneOf ?? []) as Schema[])]
  if (variant) return sample(root, variant, level + 1)
  if (schema.type === 'array') return []
  if (schema.type === 'object') {
    const required = (schema.required ?? []) as string[]
    const known = (schema.properties ?? {}) as Record<string, Schema>
    return Object.fromEntries(required.map((name) => [name, sample(root, known[name] ?? {}, level + 1)]))
  }
  if (schema.type === 'number' || schema.type === 'integer') return Number(schema.minimum ?? 1)
  return schema.type === 'boolean' ? true : 'abc'
}

/** The value with another one inserted. */
export function put(into: JsonValue | undefined, at: (string | number)[], value: JsonValue): JsonValue {
  const [key, ...rest] = at
  if (key === undefined) return value
  if (typeof key === 'number') {
    const list = Array.isArray(into) ? [...into] : []
    list[key] = put(list[key], rest, value)
    return list
  }
  const object = isJsonObject(into) ? into : {}
  return { ...object, [key]: put(object[key], rest, value) }
}

/**
 * Hostile inputs for a value parsed with this schema.
 * @param seed a valid input of the operation
 * @param at where in it the schema applies
 */
export function hostileInputs(schema: Schema, seed: JsonObject, at: string[]): Hostile[] {
  const inner = at.reduce<JsonValue | undefined>((value, key) => (isJsonObject(value) ? value[key] : undefined), seed)
  return [...changesOf(schema, schema, [], inner)].map(({ what, at: below, value }) => ({
    what,
    input: (seed) => put(seed, [...at, ...below], value()) as JsonObject,
  }))
}

/** For operations that take no such value: fields that they do not know. */
export function unknownFields(at: string[]): Hostile[] {
  return UNKNOWN.map((what) => ({
    what: `a field that nobody knows: ${what}`,
    input: (seed) => put(seed, [...at, 'nobodyKnows'], ANY[what]?.() ?? null) as JsonObject,
  }))
}

/** For inputs that name an object or a word without a schema: a long text in the place of each. */
export function longTexts(seed: JsonValue, at: (string | number)[] = []): Hostile[] {
  if (typeof seed === 'string') {
    const what = `${at.join('.')}: a long text`
    return [{ what, input: (given) => put(given, at, repeated('a\u0301${', LONGEST)) as JsonObject }]
  }
  if (typeof seed !== 'object' || seed === null) return []
  return Object.entries(seed).flatMap(([name, value]) =>
    longTexts(value, [...at, Array.isArray(seed) ? Number(name) : name]),
  )
}
