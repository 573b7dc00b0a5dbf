import { getInbound } from '@/server/inbound/list'
import { deleteInbound, updateInbound } from '@/server/inbound/save'
import { methods, route } from '@/server/rest/route'

type Part = 'id' | 'inboundId'
const named = ({ id, inboundId }: Record<Part, string>) => ({ workflowId: id, inboundId })

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows/[id]/inbound-webhooks/[inboundId]', {
  GET: route<Part>(async ({ ctx, params }) => ({ body: await getInbound(ctx, named(params)) })),
  PUT: route<Part>(async ({ ctx, params, body }) => ({ body: await updateInbound(ctx, { ...named(params), body }) })),
  DELETE: route<Part>(async ({ ctx, params }) => ({ body: await deleteInbound(ctx, named(params)) })),
})
