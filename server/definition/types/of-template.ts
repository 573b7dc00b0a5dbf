import type { JsonLike } from '../json'
import { parseTemplate, TemplateSyntaxError } from '../template'
import { type ReadName, readingOf } from './read'
import { ANY, joinAll, listOf, NEVER, objectOf, ofKind, type Property, typeOf, type ValueType } from './type'

/** The type of a configuration's value once its `${…}` are filled in. */
export function typeOfTemplate(value: JsonLike, read: ReadName): ValueType {
  if (typeof value === 'string') return typeOfText(value, read)
  if (value === undefined) return NEVER
  if (Array.isArray(value)) return listOf(joinAll(value.map((item) => typeOfTemplate(item, read))))
  if (value === null || typeof value !== 'object') return typeOf(value)
  const props = new Map<string, Property>()
  for (const [name, item] of Object.entries(value)) {
    // It is not stored.
    if (name !== '__proto__') props.set(name, { type: typeOfTemplate(item, read), always: item !== undefined })
  }
  return objectOf(props, false)
}

/** A reference alone resolves to its value; among other text, to its text. */
function typeOfText(text: string, read: ReadName): ValueType {
  if (!text.includes('${')) return ofKind('string')
  try {
    const [only, ...others] = parseTemplate(text)
    return others.length > 0 || only === undefined || typeof only === 'string'
      ? ofKind('string')
      : readingOf(only, read).type
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return ANY
    throw error
  }
}
