import { listAnswer } from '@/server/rest/page'
import { methods, route } from '@/server/rest/route'
import { listDeliveries } from '@/server/webhooks/deliveries'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/webhooks/[webhookId]/deliveries', {
  GET: route<'webhookId'>(async ({ ctx, params, query, request }) =>
    listAnswer(request, await listDeliveries(ctx, { id: params.webhookId, query })),
  ),
})
