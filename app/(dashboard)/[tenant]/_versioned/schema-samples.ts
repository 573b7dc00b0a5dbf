import type { JsonObject, JsonValue } from '@/server/definition/json'
import { isObject } from './json'

/** A schema that matches an example: all its names are required, and lists take the type of their first element. */
export function inferSchema(example: JsonValue): JsonObject {
  if (example === null) return {}
  if (Array.isArray(example)) {
    const [first] = example
    return first === undefined ? { type: 'array' } : { type: 'array', items: inferSchema(first) }
  }
  if (!isObject(example)) return { type: typeof example }
  const entries = Object.entries(example)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, value]) => [name, inferSchema(value)])),
    required: entries.map(([name]) => name),
    additionalProperties: false,
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
