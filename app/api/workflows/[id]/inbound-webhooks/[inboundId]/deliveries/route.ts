import { listInboundDeliveries } from '@/server/inbound/deliveries'
import { listAnswer } from '@/server/rest/page'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  '/api/workflows/[id]/inbound-webhooks/[inboundId]/deliveries',
  {
    GET: route<'id' | 'inboundId'>(async ({ ctx, params: { id, inboundId }, query, request }) =>
      listAnswer(request, await listInboundDeliveries(ctx, { workflowId: id, inboundId, query })),
    ),
  },
)
