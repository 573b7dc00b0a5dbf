import { listInbound } from '@/server/inbound/list'
import { createInbound } from '@/server/inbound/save'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows/[id]/inbound-webhooks', {
  GET: route<'id'>(async ({ ctx, params }) => ({ body: await listInbound(ctx, { workflowId: params.id }) })),
  // A stored answer would hold the secret.
  POST: route<'id'>(
    async ({ ctx, params, body }) => {
      const created = await createInbound(ctx, { workflowId: params.id, body })
      const location = `/api/workflows/${created.workflowId}/inbound-webhooks/${created.id}`
      return { status: 201, headers: { location }, body: created }
    },
    { idempotent: false },
  ),
})
