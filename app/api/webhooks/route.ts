import { methods, route } from '@/server/rest/route'
import { createWebhook } from '@/server/webhooks/create'
import { listWebhooks } from '@/server/webhooks/list'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/webhooks', {
  GET: route(async ({ ctx }) => ({ body: await listWebhooks(ctx) })),
  // A stored response would contain the secret.
  POST: route(
    async ({ ctx, body }) => {
      const created = await createWebhook(ctx, body)
      return { status: 201, headers: { location: `/api/webhooks/${created.id}` }, body: created }
    },
    { idempotent: false },
  ),
})
