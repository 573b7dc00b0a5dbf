import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { Field, Fields, FieldType } from '@/server/definition/schema'
import { nameProblem } from '../model/definition'

/** Infers fields from a sample, without invalid names. */
export function inferFields(sample: JsonObject): Fields {
  return Object.fromEntries(
    Object.entries(sample)
      .filter(([name]) => nameProblem(name) === null)
      .map(([name, value]) => [name, { type: typeOf(value) } satisfies Field]),
  )
}

function typeOf(value: JsonValue): FieldType {
  if (value === null) return 'any'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value as 'string' | 'boolean' | 'object'
}
