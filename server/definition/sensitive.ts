import { formsOf } from './declared'
import { isJsonObject, type JsonLike, type JsonObject, type JsonValue, own } from './json'
import type { Definition, Field, Fields } from './schema'

/** The text that screens show in place of a hidden value, as for values of the vault. */
export const HIDDEN = '***'

/** The names of the fields that a workflow marks as sensitive: in START, and in its forms. */
export function sensitiveFields({ payload, steps }: Pick<Definition, 'payload' | 'steps'>): ReadonlySet<string> {
  const declared = [
    payload,
    ...steps.flatMap(({ output }) => (isJsonObject(output) ? [output] : [])),
    ...steps.flatMap((step) => formsOf(step).map(({ fields }) => fields)),
  ]
  const names = declared.flatMap((fields) => Object.entries(fields).filter(([, field]) => isMarked(field)))
  return new Set(names.map(([name]) => name))
}

/** The sensitive fields of one definition that another does not mark: their values would be shown there. */
export function noLongerHidden(from: Parameters<typeof sensitiveFields>[0], to: typeof from): string[] {
  const marked = sensitiveFields(to)
  return [...sensitiveFields(from)].filter((name) => !marked.has(name))
}

function isMarked(field: Field | JsonValue): boolean {
  return isJsonObject(field) && field.sensitive === true
}

/** The value with everything under these names hidden, at any depth. Empty values stay. */
export function withoutFields<T extends JsonLike>(value: T, names: ReadonlySet<string>): T {
  const hide = (at: JsonLike): JsonLike => {
    if (Array.isArray(at)) return at.map(hide)
    if (!isJsonObject(at)) return at
    return Object.fromEntries(
      Object.entries(at).map(([name, part]) => [name, names.has(name) && isFilled(part) ? HIDDEN : hide(part)]),
    )
  }
  // Hiding changes only values of fields, so the shape stays the same.
  return names.size === 0 ? value : (hide(value) as T)
}

/** The fields of a form, without the defaults of secret and sensitive ones. */
export function withoutPresets(fields: Fields): Fields {
  const shown = Object.entries(fields).map(([name, field]) => {
    const { default: preset, ...rest } = field
    const hides = preset !== undefined && (field.secret || field.sensitive)
    return [name, hides ? { ...rest, required: false } : field] as const
  })
  return Object.fromEntries(shown)
}

function isFilled(value: JsonLike): boolean {
  return value !== null && value !== undefined && value !== ''
}

/** Every text under these names, at any depth. */
export function textsUnder(value: JsonLike, names: ReadonlySet<string>): string[] {
  if (Array.isArray(value)) return value.flatMap((part) => textsUnder(part, names))
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, part]) => (names.has(name) ? textsIn(part) : textsUnder(part, names)))
}

function textsIn(value: JsonLike): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : []
}

/** The data with the stored value of each sensitive field that was left hidden. */
export function withHidden(given: JsonObject, stored: JsonObject, names: ReadonlySet<string>): JsonObject {
  const known = ([name, value]: [string, JsonValue]): [string, JsonValue] => [
    name,
    isHidden(name, value, names) ? (own(stored, name) ?? value) : value,
  ]
  return Object.fromEntries(Object.entries(given).map(known))
}

/** The data without the sensitive fields that were left hidden. */
export function withoutHidden(given: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => !isHidden(name, value, names)))
}

function isHidden(name: string, value: JsonValue, names: ReadonlySet<string>): boolean {
  return value === HIDDEN && names.has(name)
}
