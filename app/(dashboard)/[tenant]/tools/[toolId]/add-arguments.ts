import { isJsonObject, type JsonObject } from '@/server/definition/json'
import type { UsedArgument } from './tool-arguments'

const EMPTY: JsonObject = { type: 'object', properties: {}, required: [] }

/**
 * The schema with further arguments; those that it has stay as they are. Their types are open unless they are known:
 * the id in a URL may be a number too.
 * @param options.open for a script, which may read arguments that its text does not show
 */
export function withArguments(
  schema: JsonObject | null,
  used: readonly UsedArgument[],
  { types = {}, open = false }: { types?: JsonObject | undefined; open?: boolean } = {},
): JsonObject | null {
  if (used.length === 0) return schema
  const base = schema ?? (open ? EMPTY : { ...EMPTY, additionalProperties: false })
  const properties = isJsonObject(base.properties) ? base.properties : {}
  const required = Array.isArray(base.required) ? base.required : []
  const added = used.filter(({ name }) => !Object.hasOwn(properties, name))
  const typed = added.map(({ name }) => [name, (Object.hasOwn(types, name) ? types[name] : undefined) ?? {}] as const)
  const needed = added.filter((one) => one.required).map(({ name }) => name)
  return {
    ...base,
    properties: { ...properties, ...Object.fromEntries(typed) },
    required: [...new Set([...required, ...needed])],
  }
}
