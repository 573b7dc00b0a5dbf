import { isJsonObject, type JsonObject, type JsonValue, own } from '../definition/json'

/** Argument names that every model provider accepts. */
const ARGUMENT = /^[A-Za-z0-9_.-]{1,64}$/
/** For made-up names, leaving room for a number. */
const MAX_NAME = 60
/** How many combined schemas to examine, and how deep. */
const MAX_PARTS = 100
const MAX_DEPTH = 5
const OPEN: JsonObject = { type: 'object', properties: {}, additionalProperties: true }

export const isAcceptableName = (name: unknown): boolean => typeof name === 'string' && ARGUMENT.test(name)

/**
 * A schema of arguments in the form all model providers accept: some reject a whole request if a schema combines others
 * at its top level. Merges their fields into the schema itself. Calls still check the dropped rules.
 */
export function flatSchema(given: JsonObject): JsonObject {
  const { $schema, anyOf, oneOf, allOf, not, enum: options, $ref, ...schema } = given
  const combines = [anyOf, oneOf, allOf, not, options, $ref].some((one) => one !== undefined)
  const { properties, required } = combines ? merged(given) : schema
  const flat: JsonObject = {
    ...schema,
    ...(isJsonObject(properties) ? { properties: objectsOnly(properties) } : {}),
    ...(required === undefined ? {} : { required }),
    type: 'object',
  }
  return combines && !refersToItself(flat) ? OPEN : flat
}

/** JSON Schema also allows true and false, which the protocols do not. */
function objectsOnly(properties: JsonObject): Record<string, JsonObject> {
  const named = Object.entries(properties).map(([name, property]): [string, JsonObject] => [
    name,
    isJsonObject(property) ? property : property === false ? { not: {} } : {},
  ])
  return Object.fromEntries(named)
}

/** The fields of a schema and of those it combines, and the fields required in every case. */
function merged(given: JsonObject): { properties?: JsonObject; required?: JsonValue[] } {
  const found = new Map<string, JsonObject[]>(Object.entries(fieldsOf(given)).map(([name, one]) => [name, [one]]))
  const listed = new Set(found.keys())
  const required = new Set(namesIn(given.required))
  let parts = MAX_PARTS
  const look = (schema: JsonObject, sure: boolean, depth: number) => {
    const combined = [
      ...listIn(schema.allOf).map((part) => ({ part, sure })),
      ...(typeof schema.$ref === 'string' ? [{ part: target(given, schema.$ref), sure }] : []),
      ...[...listIn(schema.anyOf), ...listIn(schema.oneOf)].map((part) => ({ part, sure: false })),
    ]
    for (const { part, sure } of combined) {
      parts -= 1
      if (!isJsonObject(part) || parts < 0 || depth > MAX_DEPTH) continue
      for (const [name, one] of Object.entries(fieldsOf(part))) {
        const known = found.get(name) ?? []
        if (!listed.has(name) && known.every((other) => JSON.stringify(other) !== JSON.stringify(one)))
          found.set(name, [...known, one])
      }
      if (sure) for (const name of namesIn(part.required)) required.add(name)
      look(part, sure, depth + 1)
    }
  }
  look(given, true, 0)
  // A closed schema has only the fields it lists itself.
  const names = [...found].filter(([name]) => given.additionalProperties !== false || listed.has(name))
  const properties = names.map(([name, [first = {}, ...others]]) => [
    name,
    others.length === 0 ? first : { anyOf: [first, ...others] },
  ])
  return {
    ...(properties.length > 0 || given.properties !== undefined ? { properties: Object.fromEntries(properties) } : {}),
    ...(required.size > 0 || given.required !== undefined ? { required: [...required] } : {}),
  }
}

const listIn = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : [])
const namesIn = (value: JsonValue | undefined) => listIn(value).filter((name) => typeof name === 'string')

function fieldsOf({ properties }: JsonObject): Record<string, JsonObject> {
  return isJsonObject(properties) ? objectsOnly(properties) : {}
}

/** The target of a `$ref` into the same schema; undefined if missing. */
function target(schema: JsonObject, ref: string): JsonValue | undefined {
  if (!ref.startsWith('#')) return undefined
  let at: JsonValue | undefined = schema
  for (const part of ref.split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    at = Array.isArray(at) ? at[Number(name)] : isJsonObject(at) ? own(at, name) : undefined
  }
  return at
}

/** Whether each `$ref` has a target. */
function refersToItself(schema: JsonObject): boolean {
  const all = (value: JsonValue): boolean => {
    if (Array.isArray(value)) return value.every(all)
    if (!isJsonObject(value)) return true
    if (typeof value.$ref === 'string' && target(schema, value.$ref) === undefined) return false
    return Object.values(value).every((one) => one === undefined || all(one))
  }
  return all(schema)
}

/** A schema with field names that providers accept, and the original names. */
export interface NamedSchema {
  schema: JsonObject
  names: ReadonlyMap<string, string>
}

/** Like `flatSchema`, and renames fields whose names some providers reject. */
export function acceptableSchema(given: JsonObject): NamedSchema {
  const flat = flatSchema(given)
  const properties = fieldsOf(flat)
  const odd = Object.keys(properties).filter((name) => !isAcceptableName(name))
  if (odd.length === 0) return { schema: flat, names: new Map() }
  const standIns = new Map<string, string>()
  const taken = new Set(Object.keys(properties))
  for (const name of odd) {
    const standIn = standInFor(name, taken)
    taken.add(standIn)
    standIns.set(name, standIn)
  }
  const { dependentRequired: _pairs, dependentSchemas: _schemas, propertyNames: _names, ...rest } = flat
  const schema: JsonObject = {
    ...rest,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => {
        const standIn = standIns.get(name)
        return standIn === undefined ? [name, property] : [standIn, { title: name, ...property }]
      }),
    ),
    ...(flat.required === undefined
      ? {}
      : { required: namesIn(flat.required).map((name) => standIns.get(name) ?? name) }),
  }
  const names = new Map([...standIns].map(([name, standIn]) => [standIn, name]))
  return refersToItself(schema) ? { schema, names } : { schema: OPEN, names: new Map() }
}

function standInFor(name: string, taken: ReadonlySet<string>): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .slice(0, MAX_NAME)
    .replace(/^_+|_+$/g, '')
  const base = plain || 'argument'
  for (let n = 1; ; n++) {
    const standIn = n === 1 ? base : `${base}_${n}`
    if (!taken.has(standIn)) return standIn
  }
}

/** Restores the arguments' original names. */
export function withOwnNames(args: JsonObject, names: NamedSchema['names']): JsonObject {
  if (names.size === 0) return args
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [names.get(name) ?? name, value]))
}
