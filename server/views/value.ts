import type { JsonValue } from '../definition/json'
import type { Masker } from '../vault/mask'

/** What a screen is given of a value at once. */
export const PREVIEW_CHARS = 32 * 1024

/** A value, or the beginning of its text where it is too large; `size` is that of its JSON in bytes. */
export type CutValue = { size: number; value: JsonValue } | { size: number; preview: string }

/** Masks first and cuts then: half a secret would not be recognised. */
export function cutValue(value: JsonValue, masker: Masker): CutValue {
  const masked = masker.json(value)
  const text = JSON.stringify(masked)
  const size = Buffer.byteLength(text)
  if (text.length <= PREVIEW_CHARS) return { size, value: masked }
  return { size, preview: wholeChars(JSON.stringify(masked, null, 2), PREVIEW_CHARS) }
}

/** The first characters of a text, without half a surrogate pair at the end. */
export function wholeChars(text: string, length: number): string {
  const cut = text.slice(0, length)
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}
