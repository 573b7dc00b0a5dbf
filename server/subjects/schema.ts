import { z } from 'zod'

const MOST_LETTERS = 256

/** The query string of the count. */
export const SubjectData = z.object({
  sub: z.string({ error: 'is required' }).min(1, 'is required').max(MOST_LETTERS),
})

const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .optional()
  .transform((value) => value === 'true')

/** The query string of the deletion. */
export const DeleteSubjectData = SubjectData.extend({ terminateRuns: flag })
