import { isJsonObject, type JsonObject, type JsonValue } from '../definition/json'

/** The keywords that strict servers accept; any other makes them reject the whole request. */
const KEYWORDS = new Set(
  (
    '$schema $defs definitions $ref title description type enum const anyOf properties required additionalProperties ' +
    'items minItems maxItems pattern format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum'
  ).split(' '),
)
const FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'])
const MAX_DEPTH = 10

/**
 * Whether a schema meets the rules of strict mode, as OpenAI documents it: each object is closed and requires all its
 * fields, and only a short list of keywords is used.
 */
export function meetsStrict(schema: JsonObject): boolean {
  return schema.type === 'object' && schema.anyOf === undefined && isStrict(schema, 0)
}

function isStrict(schema: JsonValue | undefined, depth: number): boolean {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return false
  if (Object.keys(schema).some((keyword) => !KEYWORDS.has(keyword))) return false
  if (typeof schema.format === 'string' && !FORMATS.has(schema.format)) return false
  const { type, enum: options, const: constant, anyOf, $ref, items } = schema
  if ([type, options, constant, anyOf, $ref].every((one) => one === undefined)) return false
  const types = [type].flat()
  if (types.includes('object') && !isClosed(schema)) return false
  if (types.includes('array') && items === undefined) return false
  const below = [
    ...[schema.properties, schema.$defs, schema.definitions].flatMap((named) =>
      isJsonObject(named) ? Object.values(named) : [],
    ),
    ...(Array.isArray(anyOf) ? anyOf : []),
    ...(items === undefined ? [] : [items]),
  ]
  return below.every((one) => isStrict(one, depth + 1))
}

function isClosed({ properties, required, additionalProperties }: JsonObject): boolean {
  const names = Object.keys(properties ?? {})
  const demanded = new Set(Array.isArray(required) ? required : [])
  return additionalProperties === false && names.every((name) => demanded.has(name))
}
