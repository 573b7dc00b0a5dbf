import { z } from 'zod'
import { unstorable } from '../definition/json'

/** A whole number in a query string. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))

/** A boolean in a query string. */
export const flag = z
  .enum(['true', 'false'])
  .optional()
  .transform((value) => value === 'true')

const page = { limit: wholeNumber(1, 1000).optional(), offset: wholeNumber(0, 999_999_999).optional() }

/** The list's query string. docs/api.md describes the limits and defaults. */
export const ListVersioned = z.object({
  search: z
    .string()
    .max(200)
    // Bytes in a query string that are not UTF-8, such as a lone surrogate, become U+FFFD.
    .refine((text) => unstorable(text) === null && !text.includes('\uFFFD'), 'is not valid text')
    .optional(),
  status: z.enum(['draft', 'published', 'archived']).optional(),
  includeArchived: flag,
  ...page,
})
export type ListVersioned = z.input<typeof ListVersioned>
export type ListQuery = z.output<typeof ListVersioned>

export const ListVersions = z.object(page)
