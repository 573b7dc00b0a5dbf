import { z } from 'zod'

/** A time in a response. */
export const time = (text: string) => z.iso.datetime().describe(`${text} ISO 8601 with milliseconds, in UTC.`)

/** A duration in a response. */
export const ms = (text: string) => z.int().min(0).describe(`${text} In milliseconds.`)

/** Where something happened in a run. */
export const place = {
  branch: z
    .string()
    .optional()
    .describe('The branch it belongs to, such as `checks#1/credit`; absent outside branches.'),
  iteration: z
    .array(z.int().min(0))
    .optional()
    .describe('The number of the item in each for-each around it, outermost first.'),
}
