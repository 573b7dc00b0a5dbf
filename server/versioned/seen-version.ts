import { z } from 'zod'

/** The version that the caller of an update last saw; a newer one is a conflict. */
export const SeenVersion = z
  .number()
  .int()
  .min(1)
  .nullish()
  .describe('The version you last saw. If there is a newer one, nothing is saved and the response is 409.')
