import { methods, route } from '@/server/rest/route'
import { redeliver } from '@/server/webhooks/deliveries'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  '/api/webhooks/[webhookId]/deliveries/[deliveryId]/redeliver',
  {
    POST: route<'webhookId' | 'deliveryId'>(
      async ({ ctx, params }) => ({
        body: await redeliver(ctx, { id: params.webhookId, deliveryId: params.deliveryId }),
      }),
      { idempotent: false },
    ),
  },
)
