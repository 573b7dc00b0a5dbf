import { methods, route } from '@/server/rest/route'
import { testWebhook } from '@/server/webhooks/deliveries'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/webhooks/[webhookId]/test', {
  POST: route<'webhookId'>(async ({ ctx, params }) => ({ body: await testWebhook(ctx, { id: params.webhookId }) }), {
    idempotent: false,
  }),
})
