import type { JsonValue } from './json'

/** A value that the author of a step chose to show to the person who answers. */
export type ShownValue = {
  label: string
  value: JsonValue
  /** Its text is Markdown. */
  markdown?: true
}

/** People read it, so more would not help; and a part of a value could hide text that is masked only as a whole. */
const MAX_CHARS = 50_000
/** In place of a value that is too large for a card. */
export const TOO_LARGE = 'Too large to show here'

/** A value as a task stores it. */
export function shownValue(value: JsonValue): JsonValue {
  const size = typeof value === 'string' ? value.length : JSON.stringify(value).length
  return size <= MAX_CHARS ? value : TOO_LARGE
}

/** The same where only text is possible, as in a mail. */
export function shownText(value: JsonValue): string {
  if (value === null || value === '') return '–'
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
