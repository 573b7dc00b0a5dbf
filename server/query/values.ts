import { z } from 'zod'

/** A whole number in a query string. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))

/** How many entries a page has that `pageAfter` limits, by default. */
export const DEFAULT_PAGE = 100

/**
 * The query string of a page that begins after the previous one.
 * @param most entries
 */
export const pageAfter = (most: number) => ({
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the `next` of an earlier page')
    .transform(Number)
    .optional()
    .describe('The `next` of the previous page.'),
  limit: wholeNumber(1, most).optional().describe(`The maximum to return, ${DEFAULT_PAGE} by default.`),
})

/** A boolean in a query string. */
export const flag = z
  .enum(['true', 'false'])
  .optional()
  .transform((value) => value === 'true')
