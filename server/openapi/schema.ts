import { z } from 'zod'
import type { Schema } from './types'

/** How every schema of the document is generated: as callers send it, in JSON types. */
export const OPTIONS = { io: 'input', target: 'draft-2020-12', unrepresentable: 'any' } as const

/** A standalone schema, without references to named ones. */
export function plainSchema(schema: z.core.$ZodType): Schema {
  return tidy(jsonSchemaOf(schema))
}

/** Zod's JSON Schema type allows more than zod produces. */
function jsonSchemaOf(schema: z.core.$ZodType, io: 'input' | 'output' = 'input'): Schema {
  return z.toJSONSchema(schema, { ...OPTIONS, io }) as Schema
}

/** A query parameter's description, and its schema: the JSON value that its text is parsed to. */
export function queryParameter(schema: z.ZodType): { description: string; schema: Schema } {
  const { description = '', ...text } = plainSchema(schema)
  return { description, schema: valueSchema(schema, text) }
}

function valueSchema(schema: z.ZodType, text: Schema): Schema {
  if (text.pattern === '^\\d{1,9}$') {
    const { minimum, maximum } = jsonSchemaOf(schema, 'output')
    return {
      type: 'integer',
      ...(minimum === undefined ? {} : { minimum }),
      ...(maximum === undefined ? {} : { maximum }),
    }
  }
  return text.enum?.join() === 'true,false' ? { type: 'boolean', default: false } : text
}

const NOISE = ['$schema', '$id', '$defs', 'id'] as const

/**
 * Removes parts that add no information. Any object may have more fields, so `additionalProperties` stays only where
 * they are intended.
 */
export function tidy(schema: Schema): Schema {
  const { $ref, properties, additionalProperties, propertyNames, items, anyOf, oneOf, maximum, ...rest } = schema
  const result: Schema = { ...rest }
  for (const key of NOISE) Reflect.deleteProperty(result, key)
  if ($ref !== undefined) result.$ref = $ref
  if (properties) {
    result.properties = Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, tidy(value)]))
  }
  if (typeof additionalProperties === 'object') {
    const more = tidy(additionalProperties)
    if (Object.keys(more).length > 0) result.additionalProperties = more
    // Explicit: generators read a bare `type: object` as one without fields.
    else result.additionalProperties = true
  }
  if (propertyNames?.pattern) result.propertyNames = { pattern: propertyNames.pattern }
  if (items) result.items = tidy(items)
  if (anyOf) Object.assign(result, nullable(anyOf.map(tidy)))
  if (oneOf) result.oneOf = oneOf.map(tidy)
  if (Array.isArray(result.type) && result.type.filter((type) => type !== 'null').length > 1) {
    // Generators read a list of types only if the other one is null.
    result.anyOf = result.type.map((type) => ({ type }))
    delete result.type
  }
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) result.maximum = maximum
  if (result.minimum === -Number.MAX_SAFE_INTEGER) delete result.minimum
  if (result.format === 'date-time') delete result.pattern
  return result
}

/** Writes `text or null` as one list of types, which means the same and is easier to read. */
function nullable(choices: Schema[]): Schema {
  const [first, second] = choices
  if (choices.length !== 2 || second?.type !== 'null' || typeof first?.type !== 'string') return { anyOf: choices }
  const values = first.enum ? { enum: [...first.enum, null] } : {}
  return { ...first, type: [first.type, 'null'], ...values }
}
