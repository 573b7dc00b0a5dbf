import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'

const MAX_DEPTH = 5

/** A JSON Schema for values like this one. Objects are open: further names are allowed. */
export function schemaLike(value: JsonValue, depth = 0): JsonObject {
  if (value === null || depth > MAX_DEPTH) return {}
  if (Array.isArray(value)) {
    const [first] = value
    return { type: 'array', items: first === undefined ? {} : schemaLike(first, depth + 1) }
  }
  if (isJsonObject(value)) {
    const properties = Object.entries(value).map(([name, one]) => [name, schemaLike(one, depth + 1)] as const)
    return { type: 'object', properties: Object.fromEntries(properties) }
  }
  return { type: typeof value }
}
