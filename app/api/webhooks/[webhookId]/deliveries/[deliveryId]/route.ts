import { methods, route } from '@/server/rest/route'
import { getDelivery } from '@/server/webhooks/deliveries'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/webhooks/[webhookId]/deliveries/[deliveryId]', {
  GET: route<'webhookId' | 'deliveryId'>(async ({ ctx, params }) => ({
    body: await getDelivery(ctx, { id: params.webhookId, deliveryId: params.deliveryId }),
  })),
})
