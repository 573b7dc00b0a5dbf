import { listThreads } from '@/server/agents/list-threads'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/agents/[agentId]/threads', {
  GET: route<'agentId'>(async ({ ctx, params, query }) => ({ body: await listThreads(ctx, params.agentId, query) }), {
    surface: 'invoke',
  }),
})
