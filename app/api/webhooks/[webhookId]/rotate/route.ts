import { methods, route } from '@/server/rest/route'
import { rotateWebhook } from '@/server/webhooks/rotate'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/webhooks/[webhookId]/rotate', {
  // A stored response would contain the secret.
  POST: route<'webhookId'>(
    async ({ ctx, params, body }) => ({ body: await rotateWebhook(ctx, { id: params.webhookId, body }) }),
    { idempotent: false },
  ),
})
