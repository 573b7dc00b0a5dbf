import { z } from 'zod'

const MAX_LETTERS = 256

/** The query string of the count. */
export const SubjectData = z.object({
  sub: z.string({ error: 'is required' }).min(1, 'is required').max(MAX_LETTERS).describe('The `sub` of the tokens.'),
})

const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .optional()
  .transform((value) => value === 'true')

/** The query string of the deletion. */
export const DeleteSubjectData = SubjectData.extend({
  terminateRuns: flag.describe('Terminate the open runs first. Without this, the response is 409 while runs are open.'),
})
