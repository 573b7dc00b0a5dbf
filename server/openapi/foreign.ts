import { isJsonObject, type JsonObject, type JsonValue } from '../definition/json'
import { ANY_OBJECT } from './of-type'
import type { Schema } from './types'

/** Larger schemas are left out: their values may then be anything. */
const MAX_BYTES = 64 * 1024
/** Deeper values may be anything. */
const MAX_DEEP = 24
const MAX_DESCRIPTION = 1_000

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']
const NUMBERS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
] as const

/**
 * A user's JSON Schema, in the part of the language that generators of clients read. Omissions only make it wider: a
 * value that matches the original also matches it. Definitions inside it get names of their own, because the document
 * has one place for all.
 * @param name of the schema in the document
 * @param nameOf the name there of a definition inside it
 * @returns the schemas by name, the schema itself first
 */
export function foreignSchema(
  schema: JsonObject,
  name: string,
  nameOf: (definition: string) => string,
): Record<string, Schema> {
  if (JSON.stringify(schema).length > MAX_BYTES) return { [name]: ANY_OBJECT }
  const found = new Map<string, string>([['#', name]])
  const waiting: { name: string; schema: JsonValue }[] = [{ name, schema }]
  const refer = (ref: string): string | undefined => {
    const known = found.get(ref)
    if (known !== undefined) return known
    const [, group = '', key = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? []
    const definition = key.replaceAll('~1', '/').replaceAll('~0', '~')
    const definitions = schema[group]
    if (!isJsonObject(definitions) || !Object.hasOwn(definitions, definition)) return undefined
    const given = nameOf(definition)
    found.set(ref, given)
    waiting.push({ name: given, schema: definitions[definition] ?? {} })
    return given
  }
  const all: Record<string, Schema> = {}
  for (const next of waiting) all[next.name] = convert(next.schema, refer, 0)
  return all
}

/** A schema without definitions in it. */
export function plainForeign(schema: JsonValue): Schema {
  return convert(schema, () => undefined, 0)
}

function convert(schema: JsonValue, refer: (ref: string) => string | undefined, depth: number): Schema {
  if (!isJsonObject(schema) || depth > MAX_DEEP) return {}
  const inner = (part: JsonValue) => convert(part, refer, depth + 1)
  const { $ref, description, properties, required, items, additionalProperties, pattern, format } = schema
  if (typeof $ref === 'string') {
    const target = refer($ref)
    return target === undefined ? {} : { $ref: `#/components/schemas/${target}` }
  }
  const result: Schema = { ...typeOf(schema), ...valuesOf(schema) }
  if (typeof description === 'string') result.description = description.slice(0, MAX_DESCRIPTION)
  if (isJsonObject(properties)) {
    result.properties = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, inner(part)]))
  }
  if (Array.isArray(required)) {
    const names = required.filter((name) => typeof name === 'string')
    if (names.length > 0) result.required = [...new Set(names)]
  }
  if (isJsonObject(items) && schema.prefixItems === undefined) result.items = inner(items)
  // With patterns beside it, it applies only to the names that they do not match.
  if (schema.patternProperties === undefined) {
    if (isJsonObject(additionalProperties)) result.additionalProperties = inner(additionalProperties)
    else if (additionalProperties === false) result.additionalProperties = false
  }
  // Wider schemas may overlap, so `oneOf` would be too strict.
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices) && choices.length > 0) result.anyOf = choices.map(inner)
  if (Array.isArray(schema.allOf) && schema.allOf.length > 0) result.allOf = schema.allOf.map(inner)
  if (typeof pattern === 'string') result.pattern = pattern
  if (typeof format === 'string') result.format = format
  for (const word of NUMBERS) {
    const limit = schema[word]
    if (typeof limit === 'number') result[word] = limit
  }
  return explicit(result)
}

function typeOf({ type, nullable }: JsonObject): Pick<Schema, 'type'> {
  const given = typeof type === 'string' ? [type] : Array.isArray(type) ? type : []
  const names = given.filter((name) => typeof name === 'string').filter((name) => TYPES.includes(name))
  // Beside a `type`, as OpenAPI 3.0 writes it.
  if (nullable === true && names.length > 0 && !names.includes('null')) names.push('null')
  const [only] = names
  return only === undefined ? {} : { type: names.length === 1 ? only : names }
}

/** Generators turn only names, or only whole numbers, into a type. */
function valuesOf({ enum: values, const: value }: JsonObject): Pick<Schema, 'enum' | 'const'> {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return { const: value }
  if (!Array.isArray(values) || values.length === 0) return {}
  const said = values.filter((one) => one !== null)
  const isPlain = said.every((one) => typeof one === 'string') || said.every((one) => Number.isSafeInteger(one))
  return isPlain && said.length > 0 ? { enum: [...new Set(values)] } : {}
}

/** Adds details that generators need to be explicit. */
function explicit(schema: Schema): Schema {
  const { type, properties, additionalProperties, items, anyOf, allOf, enum: values } = schema
  const is = (kind: string) => type === kind || (Array.isArray(type) && type.includes(kind))
  if (type === undefined && values !== undefined) {
    const kind = values.some((one) => typeof one === 'string') ? 'string' : 'integer'
    return { type: values.includes(null) ? [kind, 'null'] : kind, ...schema }
  }
  const isBare = is('object') && !properties && additionalProperties === undefined && !(anyOf ?? allOf)
  return {
    ...schema,
    ...(isBare ? { additionalProperties: true } : {}),
    ...(is('array') && !items ? { items: {} } : {}),
  }
}
