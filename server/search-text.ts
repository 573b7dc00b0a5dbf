import { z } from 'zod'
import { unstorable } from './definition/json'

/** What somebody types to look for something. */
export const SearchText = z
  .string()
  .trim()
  .max(200)
  .refine((text) => unstorable(text) === null, 'is not valid text')

/** A pattern of LIKE for texts in which this one stands somewhere. */
export function contains(text: string): string {
  return `%${literal(text)}%`
}

/** The text in a pattern of LIKE: its `%`, `_` and `\` mean themselves. */
export function literal(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
