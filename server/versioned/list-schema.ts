import { z } from 'zod'
import { unstorable } from '../definition/json'
import { flag, wholeNumber } from '../query/values'

const page = {
  limit: wholeNumber(1, 1000).optional().describe('The maximum to return, 1000 by default.'),
  offset: wholeNumber(0, 999_999_999).optional().describe('How many to skip.'),
}

/**
 * The query string of a list.
 * @param many the listed things, such as `agents`
 */
export const listVersioned = (many: string) =>
  z.object({
    search: z
      .string()
      .max(200)
      // Bytes in a query string that are not UTF-8, such as a lone surrogate, become U+FFFD.
      .refine((text) => unstorable(text) === null && !text.includes('\uFFFD'), 'is not valid text')
      .optional()
      .describe('Text in the name or the description, in upper or lower case.'),
    status: z.enum(['draft', 'published', 'archived']).optional().describe(`Only ${many} with this status.`),
    includeArchived: flag.describe(`Include archived ${many}. By default they are left out.`),
    ...page,
  })
export type ListQuery = z.output<ReturnType<typeof listVersioned>>

export const ListVersions = z.object(page)
