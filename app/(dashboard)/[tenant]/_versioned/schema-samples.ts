import type { JsonObject, JsonValue } from '@/server/definition/json'
import { isObject } from './json'

/**
 * A schema that matches an example: its names are required, and the elements of a list share one schema.
 * @param options.open whether objects may have further names, as in the answers of other systems
 */
export function inferSchema(example: JsonValue, { open = false } = {}): JsonObject {
  const shape = closedSchema(example)
  return open ? opened(shape) : shape
}

function closedSchema(example: JsonValue): JsonObject {
  if (example === null) return {}
  if (Array.isArray(example)) {
    const [first, ...others] = example.map(closedSchema)
    return first === undefined ? { type: 'array' } : { type: 'array', items: others.reduce(shared, first) }
  }
  if (!isObject(example)) return { type: typeof example }
  const entries = Object.entries(example)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, value]) => [name, closedSchema(value)])),
    required: entries.map(([name]) => name),
    additionalProperties: false,
  }
}

/** The schema of values that match one or the other; anything if their types differ. */
function shared(one: JsonObject, other: JsonObject): JsonObject {
  if (one.type !== other.type || one.type === undefined) return {}
  if (one.type === 'array') {
    const [a, b] = [one.items, other.items]
    if (!isObject(a) || !isObject(b)) return isObject(a) ? one : other
    return { ...one, items: shared(a, b) }
  }
  if (!isObject(one.properties) || !isObject(other.properties)) return one
  const [ours, theirs] = [one.properties, other.properties]
  const both = Object.entries(ours).map(([name, inner]) => {
    const against = Object.hasOwn(theirs, name) ? theirs[name] : undefined
    return [name, isObject(inner) && isObject(against) ? shared(inner, against) : inner]
  })
  return {
    ...one,
    properties: { ...theirs, ...Object.fromEntries(both) },
    required: namesOf(one).filter((name) => namesOf(other).includes(name)),
  }
}

const namesOf = ({ required }: JsonObject) => (Array.isArray(required) ? required : [])

function opened(schema: JsonObject): JsonObject {
  const { additionalProperties: _closed, ...rest } = schema
  const inner = (part: JsonValue | undefined) => (isObject(part) ? opened(part) : {})
  return {
    ...rest,
    ...(isObject(rest.properties)
      ? { properties: Object.fromEntries(Object.entries(rest.properties).map(([name, part]) => [name, inner(part)])) }
      : {}),
    ...(rest.items === undefined ? {} : { items: inner(rest.items) }),
  }
}

const FORMATS: Record<string, string> = {
  email: 'ada@example.com',
  date: '2026-01-31',
  'date-time': '2026-01-31T09:00:00Z',
  uri: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
}
const MAX_DEPTH = 8

/** A starting value for a schema: its own default or example, or the simplest value of its type. */
export function sampleOf(schema: JsonValue | undefined, depth = 0): JsonValue {
  if (!isObject(schema) || depth > MAX_DEPTH) return null
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null
  if (Array.isArray(schema.examples) && schema.examples[0] !== undefined) return schema.examples[0]
  const type = Array.isArray(schema.type) ? schema.type[0] : (schema.type ?? (schema.properties ? 'object' : undefined))
  switch (type) {
    case 'object': {
      const properties = isObject(schema.properties) ? Object.entries(schema.properties) : []
      return Object.fromEntries(properties.map(([name, property]) => [name, sampleOf(property, depth + 1)]))
    }
    case 'array':
      return schema.items === undefined ? [] : [sampleOf(schema.items, depth + 1)]
    case 'number':
    case 'integer':
      return typeof schema.minimum === 'number' ? schema.minimum : 1
    case 'boolean':
      return true
    case 'string':
      return (typeof schema.format === 'string' && FORMATS[schema.format]) || 'text'
    default:
      return null
  }
}

/** Only values stated in the schema: constants, defaults and examples. Nothing that looks typed by a user. */
export function givenBy(schema: JsonValue | undefined, depth = 0): JsonValue | undefined {
  if (!isObject(schema) || depth > MAX_DEPTH) return undefined
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.examples) && schema.examples[0] !== undefined) return schema.examples[0]
  if (!isObject(schema.properties)) return undefined
  const given: JsonObject = {}
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = givenBy(property, depth + 1)
    if (value !== undefined) given[name] = value
  }
  return Object.keys(given).length > 0 ? given : undefined
}
