import { isJsonObject, type JsonObject, type JsonValue, own } from '../json'
import {
  ANY,
  join,
  joinAll,
  KIND,
  type Kind,
  listOf,
  NEVER,
  objectOf,
  ofKind,
  ofKinds,
  only,
  type Property,
  typeOf,
  type ValueType,
} from './type'

/** Deeper schemas are not read. */
const MAX_DEEP = 6

/** The type of values that match a JSON Schema. Unsupported keywords only make it less precise. */
export function typeOfSchema(schema: JsonValue | undefined, depth = 0): ValueType {
  if (schema === false) return NEVER
  if (!isJsonObject(schema) || depth > MAX_DEEP) return ANY
  let type = ofShape(schema, depth)
  const { enum: values, const: value, anyOf, oneOf, allOf } = schema
  if (Array.isArray(values)) type = narrowed(type, joinAll(values.map(typeOf)))
  if (value !== undefined) type = narrowed(type, typeOf(value))
  for (const choices of [anyOf, oneOf])
    if (Array.isArray(choices)) type = narrowed(type, joinAll(choices.map((one) => typeOfSchema(one, depth + 1))))
  if (Array.isArray(allOf)) for (const one of allOf) type = narrowed(type, typeOfSchema(one, depth + 1))
  return type
}

/** The intersection of two types, or a slightly larger type: the more precise of the two. */
function narrowed(a: ValueType, b: ValueType): ValueType {
  const kinds = a.kinds & b.kinds
  const [mine, other] = [only(a, kinds), only(b, kinds)]
  return other.size > mine.size ? other : mine
}

function ofShape(schema: JsonObject, depth: number): ValueType {
  const { type } = schema
  const named = typeof type === 'string' ? [type] : Array.isArray(type) ? type : null
  const listed = named === null ? ANY.kinds : named.reduce<number>((all, name) => all | kindOf(name), 0)
  // Beside a `type`, as OpenAPI writes it.
  const kinds = schema.nullable === true ? listed | KIND.null : listed
  let shape = ofKinds(kinds & ~(KIND.array | KIND.object))
  if (kinds & KIND.array) shape = join(shape, itemsOf(schema, depth))
  if (kinds & KIND.object) shape = join(shape, propsOf(schema, depth))
  return shape
}

function kindOf(name: JsonValue): number {
  if (name === 'integer') return KIND.number
  return typeof name === 'string' ? (own<number>(KIND, name as Kind) ?? 0) : 0
}

function itemsOf({ items, prefixItems }: JsonObject, depth: number): ValueType {
  return prefixItems === undefined && items !== undefined ? listOf(typeOfSchema(items, depth + 1)) : ofKind('array')
}

function propsOf(
  { properties, required, additionalProperties, patternProperties }: JsonObject,
  depth: number,
): ValueType {
  const always = new Set(Array.isArray(required) ? required : [])
  const known = isJsonObject(properties) ? properties : {}
  const open = additionalProperties !== false || patternProperties !== undefined
  const props = new Map<string, Property>()
  for (const [name, inner] of Object.entries(known))
    props.set(name, { type: typeOfSchema(inner, depth + 1), always: always.has(name) })
  for (const name of always)
    if (typeof name === 'string' && !props.has(name) && open) props.set(name, { type: ANY, always: true })
  return objectOf(props, open)
}
