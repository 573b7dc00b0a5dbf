import { isJsonObject, type JsonObject, type JsonValue, own, pathText } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import { findStep } from './definition'
import { updateStep } from './edit-steps'
import type { Fix } from './fix'

/** Changes the text at a problem's path. */
export function inText(label: string, stepId: string, field: string, change: (text: string) => string): Fix {
  return {
    label,
    apply: (before) =>
      changeAt(before, stepId, namesOf(field), (value) => (typeof value === 'string' ? change(value) : value)),
  }
}

/** The names of a problem's path, such as `args.lines[0].name`. */
function namesOf(field: string): (string | number)[] {
  return [...field.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name]) =>
    index === undefined ? (name ?? '') : Number(index),
  )
}

/** The place of a problem's path in a step; null if it is ambiguous, because a name contains a dot or bracket. */
export function placeOf(step: JsonObject, field = ''): (string | number)[] | null {
  const names = namesOf(field)
  const sure = names.every((_, index) => {
    const at = valueAt(step, names.slice(0, index))
    const rest = pathText(names.slice(index))
    return !isJsonObject(at) || !Object.keys(at).some((key) => /[.[\]]/.test(key) && rest.startsWith(key))
  })
  return sure && pathText(names) === field ? names : null
}

export function valueAt(value: JsonValue | undefined, path: readonly (string | number)[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (at, name) =>
      Array.isArray(at) ? at[Number(name)] : isJsonObject(at) && typeof name === 'string' ? own(at, name) : undefined,
    value,
  )
}

export function changeAt(
  definition: Definition,
  stepId: string,
  [root, ...path]: readonly (string | number)[],
  change: (value: JsonValue) => JsonValue,
): Definition {
  const step = findStep(definition, stepId)
  const value = step && typeof root === 'string' ? own(step, root) : undefined
  if (typeof root !== 'string' || value === undefined) return definition
  return updateStep(definition, stepId, { [root]: changed(value, path, change) })
}

/** The value with a change at a path inside it. */
export function changed(
  value: JsonValue,
  path: readonly (string | number)[],
  change: (value: JsonValue) => JsonValue,
): JsonValue {
  const [name, ...rest] = path
  if (name === undefined) return change(value)
  if (Array.isArray(value)) return value.map((item, index) => (index === name ? changed(item, rest, change) : item))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === name ? changed(item, rest, change) : item]),
  )
}
