import { z } from 'zod'

export const PostedEvent = z.object({
  success: z.boolean(),
  eventId: z.string().describe('The id it was posted with, or the one it got.'),
})
