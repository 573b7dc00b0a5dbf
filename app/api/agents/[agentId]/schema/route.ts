import { getAgentSchema } from '@/server/agents/get-schema'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/agents/[agentId]/schema', {
  GET: route<'agentId'>(
    async ({ ctx, params, query }) => ({
      body: await getAgentSchema(ctx, { agentId: params.agentId, version: query.version }),
    }),
    { surface: 'invoke' },
  ),
})
