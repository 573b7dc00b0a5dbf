import { z } from 'zod'
import { unstorable } from './definition/json'

/** Text typed into a search field. */
export const SearchText = z
  .string()
  .trim()
  .max(200)
  .refine((text) => unstorable(text) === null, 'is not valid text')

/** A LIKE pattern that matches texts containing this one. */
export function contains(text: string): string {
  return `%${literal(text)}%`
}

/** Escapes a text for a LIKE pattern, so `%`, `_` and `\` match themselves. */
export function literal(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
