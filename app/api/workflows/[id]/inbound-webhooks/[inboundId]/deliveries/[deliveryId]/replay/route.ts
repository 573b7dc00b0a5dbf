import { replayInboundDelivery } from '@/server/inbound/deliveries'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  '/api/workflows/[id]/inbound-webhooks/[inboundId]/deliveries/[deliveryId]/replay',
  {
    POST: route<'id' | 'inboundId' | 'deliveryId'>(
      async ({ ctx, params: { id, inboundId, deliveryId } }) => ({
        status: 201,
        body: await replayInboundDelivery(ctx, { workflowId: id, inboundId, deliveryId }),
      }),
      { limit: 'starts' },
    ),
  },
)
