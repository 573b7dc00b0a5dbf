import { isJsonObject, type JsonObject, type JsonValue, own } from '../json'
import { typeOfSchema } from './of-json-schema'
import { typeOfTemplate } from './of-template'
import type { ReadName } from './read'
import { KIND, NEVER, type ValueType, wordsFor } from './type'

/** The positions where a template's value can never match a JSON Schema. The schema itself checks literal values. */
export function misfitsIn(
  value: JsonValue,
  schema: JsonValue | undefined,
  read: ReadName,
  path: string,
): { path: string; message: string }[] {
  if (typeof value === 'string') {
    const given = value.includes('${') ? typeOfTemplate(value, read) : NEVER
    const message = whyNot(given, typeOfSchema(schema))
    return message === null ? [] : [{ path, message }]
  }
  if (!isJsonObject(schema)) return []
  if (Array.isArray(value)) {
    // If the first items have their own schemas, `items` applies to the rest.
    if (schema.prefixItems !== undefined) return []
    return value.flatMap((item, at) => misfitsIn(item, schema.items, read, `${path}[${at}]`))
  }
  const known: JsonObject = isJsonObject(schema.properties) ? schema.properties : {}
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, item]) => misfitsIn(item, own(known, name), read, `${path}.${name}`))
}

/** Why a value of one type can never be of another; null if some may be. */
function whyNot(given: ValueType, wanted: ValueType, path = 'it'): string | null {
  if (given === NEVER) return null
  const kinds = given.kinds & wanted.kinds
  if (kinds === 0) return `${path} must be ${wordsFor(wanted)}, but is ${wordsFor(given)}.`
  if (kinds !== KIND.object) return null
  for (const [name, { type, always }] of wanted.props) {
    const inner = given.props.get(name)
    const why = inner ? (inner.always || always ? whyNot(inner.type, type, `its ${name}`) : null) : null
    if (why !== null) return why
    if (!inner && !given.open && always) return `it has no ${name}.`
  }
  return null
}
