import { isRequired } from '../definition/fields'
import type { JsonLike } from '../definition/json'
import type { Field, Fields } from '../definition/schema'
import { typeOfField } from '../definition/types/of-fields'
import { join, type Property, type ValueType } from '../definition/types/type'
import type { DefinedField } from './form'

// The values of the fields that people fill in, as later steps can refer to them.

/** The known facts about a value of an answer before anybody has answered. */
export function definedByAnswer({ type, description, required, default: preset }: Field): DefinedField {
  return {
    type,
    ...(description === undefined ? {} : { description }),
    ...(required === false && preset === undefined ? { optional: true } : {}),
  }
}

/** The types of an answer's values. Options and defaults may contain `${…}`. */
export function typesOfAnswer(fields: Fields, template: (value: JsonLike) => ValueType): Map<string, Property> {
  const typed = Object.entries(fields).map(([name, declared]) => {
    const { options, default: preset, ...field } = declared
    const asked = typeOfField({ ...field, ...(JSON.stringify(options)?.includes('${') ? {} : { options }) })
    const type = preset === undefined ? asked : join(asked, template(preset))
    return [name, { type, always: isRequired(declared) || preset !== undefined }] as const
  })
  return new Map(typed)
}
