import { z } from 'zod'
import { component } from '../definition/component'

export const PostedEvent = component('PostedEvent', {
  success: z.boolean(),
  eventId: z.string().describe('The id it was posted with, or the one it got.'),
})
