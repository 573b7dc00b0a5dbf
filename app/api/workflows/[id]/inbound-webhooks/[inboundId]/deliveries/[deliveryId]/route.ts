import { getInboundDelivery } from '@/server/inbound/deliveries'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  '/api/workflows/[id]/inbound-webhooks/[inboundId]/deliveries/[deliveryId]',
  {
    GET: route<'id' | 'inboundId' | 'deliveryId'>(async ({ ctx, params: { id, inboundId, deliveryId } }) => ({
      body: await getInboundDelivery(ctx, { workflowId: id, inboundId, deliveryId }),
    })),
  },
)
