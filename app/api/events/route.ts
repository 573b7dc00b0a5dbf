import { postEvent } from '@/server/events/post'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/events', {
  POST: route(async ({ ctx, body }) => ({ body: await postEvent(ctx, body) })),
})
