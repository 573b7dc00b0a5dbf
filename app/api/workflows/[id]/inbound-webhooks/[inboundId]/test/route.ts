import { tryInbound } from '@/server/inbound/try'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  '/api/workflows/[id]/inbound-webhooks/[inboundId]/test',
  {
    POST: route<'id' | 'inboundId'>(
      async ({ ctx, params: { id, inboundId }, body }) => ({
        body: await tryInbound(ctx, { workflowId: id, inboundId, body }),
      }),
      { idempotent: false },
    ),
  },
)
