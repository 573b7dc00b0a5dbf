import { type JsonObject, type JsonValue, own } from '@/server/definition/json'
import type { Fields } from '@/server/definition/schema'
import { HIDDEN } from '@/server/definition/sensitive'

/** The fields whose values are hidden on screen. A new run keeps the original of each value sent back hidden. */
export function hiddenFields(fields: Fields, before: JsonObject): ReadonlySet<string> {
  const names = Object.entries(fields).flatMap(([name, field]) =>
    field.sensitive === true && own(before, name) === HIDDEN ? [name] : [],
  )
  return new Set(names)
}

/** Errors for partly hidden values: the new run would get the *** instead. */
export function hiddenParts(fields: Fields, data: JsonObject, before: JsonObject): Record<string, string> {
  const whole = hiddenFields(fields, before)
  const names = Object.keys(data).filter(
    (name) => !whole.has(name) && hides(own(data, name)) && hides(own(before, name)),
  )
  return Object.fromEntries(names.map((name) => [name, PART_HIDDEN]))
}

const PART_HIDDEN = 'A part of this value is hidden, as ***. Replace it or, if it really says ***, enter JSON.'

const hides = (value: JsonValue | undefined) => value !== undefined && JSON.stringify(value).includes(HIDDEN)
