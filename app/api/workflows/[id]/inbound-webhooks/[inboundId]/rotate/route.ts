import { rotateInbound } from '@/server/inbound/rotate'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  '/api/workflows/[id]/inbound-webhooks/[inboundId]/rotate',
  {
    // A stored answer would hold the secret.
    POST: route<'id' | 'inboundId'>(
      async ({ ctx, params: { id, inboundId }, body }) => ({
        body: await rotateInbound(ctx, { workflowId: id, inboundId, body }),
      }),
      { idempotent: false },
    ),
  },
)
