import { ilike, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { z } from 'zod'
import { unstorable } from '../definition/json'
import { spellings } from '../definition/spellings'

/** Text typed into a search field. */
export const SearchText = z
  .string()
  .trim()
  .max(200)
  .refine((text) => unstorable(text) === null, 'is not valid text')

/** Whether a column contains this text, case-insensitively. */
export function hasText(column: Parameters<typeof ilike>[0], text: string): SQL | undefined {
  return or(...spellings(text).map((one) => ilike(column, contains(one))))
}

/** Whether a column equals this text, case-insensitively. In the form of the index `runs_by_key`. */
export function isText(column: SQLWrapper, text: string): SQL | undefined {
  return or(...spellings(text).map((one) => sql`lower(${column}) = lower(${one})`))
}

/** A LIKE pattern that matches texts containing this one. */
export function contains(text: string): string {
  return `%${literal(text)}%`
}

/** Escapes a text for a LIKE pattern, so `%`, `_` and `\` match themselves. */
export function literal(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
