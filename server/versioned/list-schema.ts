import { z } from 'zod'
import { unstorable } from '../definition/json'
import { flag, wholeNumber } from '../query-values'

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
