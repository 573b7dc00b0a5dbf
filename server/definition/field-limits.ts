import type { JsonObject, JsonValue } from './json'
import type { Field } from './schema'

/** How the text of a field is entered, and for all but the last one also checked. */
export const TEXT_FORMATS = ['date', 'email', 'long-text'] as const
export type TextFormat = (typeof TEXT_FORMATS)[number]

type Limited = Pick<Field, 'type'> & Partial<Pick<Field, 'format' | 'minimum' | 'maximum'>>

const DAY = /^\d{4}-\d\d-\d\d$/
/** What a browser's own field for an email takes, and JSON Schema too. */
const EMAIL =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i

function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`)
  return DAY.test(text) && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
}

/** The format of a text field; null without a known one. Workflows may store anything there. */
export function formatOf({ type, format }: Limited): TextFormat | null {
  return (type === 'string' && TEXT_FORMATS.find((known) => known === format)) || null
}

export function isNumeric({ type }: Pick<Field, 'type'>): boolean {
  return type === 'number' || type === 'integer'
}

/** The least and the greatest value of a number field; undefined without one. */
export function boundsOf(field: Limited): { minimum: number | undefined; maximum: number | undefined } {
  const bound = (value: JsonValue | undefined) => (isNumeric(field) && typeof value === 'number' ? value : undefined)
  return { minimum: bound(field.minimum), maximum: bound(field.maximum) }
}

/** Why a value of the field's type is not accepted, in words that follow the field's name; null if it is. */
export function limitProblem(field: Limited, value: JsonValue): string | null {
  const format = formatOf(field)
  if (format === 'date' && !isDay(String(value))) return 'must be a date, such as 2026-07-01'
  if (format === 'email' && !EMAIL.test(String(value))) return 'must be an email address'
  const { minimum, maximum } = boundsOf(field)
  if (typeof value !== 'number') return null
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`
  return maximum !== undefined && value > maximum ? `must be at most ${maximum}` : null
}

/** The limits as a part of JSON Schema, which has no word for a long text. */
export function schemaOfLimits(field: Limited): JsonObject {
  const format = formatOf(field)
  const { minimum, maximum } = boundsOf(field)
  return {
    ...(format === null || format === 'long-text' ? {} : { format }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  }
}
