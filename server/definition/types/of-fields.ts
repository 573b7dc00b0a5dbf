import type { Field, Fields } from '../schema'
import { ANY, join, joinAll, objectOf, ofKind, only, type Property, typeOf, type ValueType } from './type'

/** The type of the values of a declared field. */
export function typeOfField({ type, options, default: preset }: Field): ValueType {
  const declared = ofFieldType(type)
  const allowed = options ? only(joinAll(options.map(typeOf)), declared.kinds) : declared
  // Defaults are not checked.
  return preset === undefined ? allowed : join(allowed, typeOf(preset))
}

export function ofFieldType(type: Field['type']): ValueType {
  if (type === 'any') return ANY
  if (type === 'file') return ofKind('string')
  return ofKind(type === 'integer' ? 'number' : type)
}

/** The types of declared fields once their values were checked. */
export function propertiesOf(fields: Fields): Map<string, Property> {
  return new Map(
    Object.entries(fields).map(([name, field]) => [
      name,
      { type: typeOfField(field), always: field.required !== false || field.default !== undefined },
    ]),
  )
}

/** An object that has the declared fields and no others. */
export function typeOfFields(fields: Fields): ValueType {
  return objectOf(propertiesOf(fields), false)
}
