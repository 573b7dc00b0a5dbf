import { schemaOfLimits } from './field-limits'
import { isRequired } from './fields'
import { isFileList } from './file-fields'
import type { JsonObject } from './json'
import type { Field, Fields } from './schema'

/** Declared fields as the JSON Schema of an object that has them and no others. */
export function schemaOfFields(fields: Fields): JsonObject {
  const entries = Object.entries(fields)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, field]) => [name, schemaOf(field)])),
    required: entries.filter(([, field]) => isRequired(field)).map(([name]) => name),
    additionalProperties: false,
  }
}

function schemaOf(field: Field): JsonObject {
  const { type, description, options, default: fallback } = field
  return {
    ...(type === 'any' ? {} : { type: type === 'file' ? 'string' : type }),
    ...schemaOfLimits(field),
    ...(isFileList(field) ? { items: { type: 'string' } } : {}),
    ...(description === undefined ? {} : { description }),
    ...(options === undefined ? {} : { enum: options }),
    ...(fallback === undefined ? {} : { default: fallback }),
  }
}
