import { schemaOfLimits } from '../definition/field-limits'
import { isRequired } from '../definition/fields'
import { isFileList } from '../definition/file-fields'
import type { Field, Fields } from '../definition/schema'
import { plainForeign } from '../openapi/foreign'
import type { Schema } from '../openapi/types'

/** Filled in only during a run. */
const isTemplated = (value: unknown) => JSON.stringify(value)?.includes('${') ?? false

/**
 * Declared fields as the schema of a caller's input. Other fields are ignored, and so not forbidden. Defaults are
 * described in words: generators would require a field with a default.
 */
export function schemaOfFields(fields: Fields): Schema {
  const entries = Object.entries(fields)
  const required = entries.filter(([, field]) => isRequired(field)).map(([name]) => name)
  return {
    type: 'object',
    ...(entries.length > 0
      ? { properties: Object.fromEntries(entries.map(([name, field]) => [name, schemaOf(field)])) }
      : { additionalProperties: true }),
    ...(required.length > 0 ? { required } : {}),
  }
}

function schemaOf(field: Field): Schema {
  const { type, options } = field
  const description = describe(field)
  return plainForeign({
    ...(type === 'any' ? {} : { type: type === 'file' ? 'string' : type }),
    ...(type === 'file' ? { format: 'uuid' } : {}),
    ...schemaOfLimits(field),
    ...(isFileList(field) ? { items: { type: 'string', format: 'uuid' } } : {}),
    ...(description === '' ? {} : { description }),
    ...(options === undefined || isTemplated(options) ? {} : { enum: options }),
  })
}

function describe(field: Field): string {
  const { type, description = '', default: preset } = field
  const hint = type === 'file' ? 'The id of a stored file.' : isFileList(field) ? 'The ids of stored files.' : ''
  const text = preset === undefined || isTemplated(preset) ? '' : JSON.stringify(preset)
  const said = description === '' || /[.!?]$/.test(description) ? description : `${description}.`
  return [
    hint === '' && text === '' ? description : said,
    hint,
    text !== '' && text.length <= 100 ? `By default \`${text}\`.` : '',
  ]
    .filter(Boolean)
    .join(' ')
}
