import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
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

/** More of a value is not read when only its beginning is shown. */
const READ_WHOLE_BYTES = 1024 * 1024

/** A value's JSON text, or the beginning of it, with the size of all. */
export interface ValueStart {
  size: number
  text: string
}

/** Reads of a value what `showStart` shows of it. Null where there is none. */
export function valueStart(column: SQLWrapper): SQL<ValueStart | null> {
  // `offset 0` keeps the text from being made anew for each mention.
  return sql<ValueStart | null>`(
    select json_build_object('size', octet_length(t), 'text',
      case when octet_length(t) <= ${READ_WHOLE_BYTES}::int then t else left(t, ${PREVIEW_CHARS * 2}::int) end)
    from (select ${column}::text as t offset 0) v where t is not null)`
}

export function showStart({ size, text }: ValueStart, masker: Masker): CutValue {
  if (size <= READ_WHOLE_BYTES) return cutValue(JSON.parse(text), masker)
  // Twice of what is shown was read, so that a secret is whole when it is masked.
  return { size, preview: wholeChars(masker.text(text), PREVIEW_CHARS) }
}

/** The first characters of a text, without half a surrogate pair at the end. */
export function wholeChars(text: string, length: number): string {
  const cut = text.slice(0, length)
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}
