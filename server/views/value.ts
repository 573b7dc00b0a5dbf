import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { wholeChars } from '@/lib/whole-chars'
import type { JsonValue } from '../definition/json'
import type { Masker } from '../vault/mask'

/** How much of a value a screen gets at first. */
export const PREVIEW_CHARS = 32 * 1024

/** A value, or the start of its text when it is too large; `size` is its JSON in bytes. */
export type CutValue = { size: number; value: JsonValue } | { size: number; preview: string }

/** Masks before cutting: half a secret would not be recognised. */
export function cutValue(value: JsonValue, masker: Masker): CutValue {
  const masked = masker.json(value)
  const text = JSON.stringify(masked)
  const size = Buffer.byteLength(text)
  if (text.length <= PREVIEW_CHARS) return { size, value: masked }
  return { size, preview: wholeChars(JSON.stringify(masked, null, 2), PREVIEW_CHARS) }
}

/** If only the start is shown, larger values are read in part. */
const READ_WHOLE_BYTES = 1024 * 1024

/** A value's JSON text, or the start of it, with its full size. */
export interface ValueStart {
  size: number
  text: string
}

/** Reads as much of a value as `showStart` shows. Null for a missing value. */
export function valueStart(column: SQLWrapper): SQL<ValueStart | null> {
  // `offset 0` stops Postgres from building the text once per use.
  return sql<ValueStart | null>`(
    select json_build_object('size', octet_length(t), 'text',
      case when octet_length(t) <= ${READ_WHOLE_BYTES}::int then t else left(t, ${PREVIEW_CHARS * 2}::int) end)
    from (select ${column}::text as t offset 0) v where t is not null)`
}

export function showStart({ size, text }: ValueStart, masker: Masker): CutValue {
  if (size <= READ_WHOLE_BYTES) return cutValue(JSON.parse(text), masker)
  // A cut text has no names to hide by, and may hold part of a hidden value.
  if (masker.longest > PREVIEW_CHARS || hidesFields(masker)) return { size, preview: '' }
  // Twice the shown length was read, so that a secret at the cut is whole when it is masked.
  return { size, preview: wholeChars(masker.text(text), PREVIEW_CHARS) }
}

/** The masker of a run also hides fields by name. */
function hidesFields(masker: Masker & { hides?: ReadonlySet<string> }): boolean {
  return (masker.hides?.size ?? 0) > 0
}
