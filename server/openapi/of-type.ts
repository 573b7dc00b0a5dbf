import { has, type Kind, type ValueType } from '../definition/types/type'
import type { Schema } from './types'

/** Any object. Explicit, because generators read a bare `type: object` as one without fields. */
export const ANY_OBJECT: Schema = { type: 'object', additionalProperties: true }

const KINDS: readonly Kind[] = ['boolean', 'number', 'string', 'array', 'object']

/** The known facts about a value before a run, as the schema of all values that it may have. */
export function schemaOfType(type: ValueType): Schema {
  const kinds = KINDS.filter((kind) => has(type, kind))
  // Stop here: a value that may be anything has items that may be anything.
  if (kinds.length === KINDS.length) return {}
  const choices = kinds.map((kind): Schema => {
    if (kind === 'array') return { type: kind, items: schemaOfType(type.items) }
    return kind === 'object' ? objectSchema(type) : { type: kind }
  })
  const isNullable = has(type, 'null')
  const [only] = choices
  if (only === undefined) return isNullable ? { type: 'null' } : {}
  if (choices.length > 1) return { anyOf: isNullable ? [...choices, { type: 'null' }] : choices }
  if (!isNullable) return only
  return only.properties ? { anyOf: [only, { type: 'null' }] } : { ...only, type: [String(only.type), 'null'] }
}

function objectSchema({ props }: ValueType): Schema {
  if (props.size === 0) return ANY_OBJECT
  const required = [...props].flatMap(([name, { always }]) => (always ? [name] : []))
  return {
    type: 'object',
    properties: Object.fromEntries([...props].map(([name, { type }]) => [name, schemaOfType(type)])),
    ...(required.length > 0 ? { required } : {}),
  }
}
