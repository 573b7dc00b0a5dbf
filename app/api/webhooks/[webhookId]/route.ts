import { methods, route } from '@/server/rest/route'
import { getWebhook } from '@/server/webhooks/list'
import { deleteWebhook, updateWebhook } from '@/server/webhooks/update'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/webhooks/[webhookId]', {
  GET: route<'webhookId'>(async ({ ctx, params }) => ({ body: await getWebhook(ctx, { id: params.webhookId }) })),
  PUT: route<'webhookId'>(async ({ ctx, params, body }) => ({
    body: await updateWebhook(ctx, { id: params.webhookId, body }),
  })),
  DELETE: route<'webhookId'>(async ({ ctx, params }) => ({ body: await deleteWebhook(ctx, { id: params.webhookId }) })),
})
