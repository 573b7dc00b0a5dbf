import { invokeAgent } from '@/server/agents/invoke'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/agents/[agentId]/invoke', {
  POST: route<'agentId'>(
    async ({ ctx, params, body, signal }) => ({
      body: await invokeAgent(ctx, { agentId: params.agentId, body }, signal),
    }),
    { surface: 'invoke', limit: 'invokes' },
  ),
})

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
