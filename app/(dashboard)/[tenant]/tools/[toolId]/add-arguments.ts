import { isJsonObject, type JsonObject } from '@/server/definition/json'

const EMPTY: JsonObject = { type: 'object', properties: {}, required: [], additionalProperties: false }

/**
 * The schema with further required arguments. Their types are open unless they are known: the id in a URL may be a
 * number too.
 */
export function withArguments(
  schema: JsonObject | null,
  names: readonly string[],
  known: JsonObject = {},
): JsonObject | null {
  if (names.length === 0) return schema
  const base = schema ?? EMPTY
  const properties = isJsonObject(base.properties) ? base.properties : {}
  const required = Array.isArray(base.required) ? base.required : []
  const added = names.map((name) => [name, (Object.hasOwn(known, name) ? known[name] : undefined) ?? {}] as const)
  return {
    ...base,
    properties: { ...properties, ...Object.fromEntries(added) },
    required: [...new Set([...required, ...names])],
  }
}
