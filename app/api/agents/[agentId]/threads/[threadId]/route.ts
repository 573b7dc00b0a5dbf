import { getThread } from '@/server/agents/get-thread'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/agents/[agentId]/threads/[threadId]', {
  GET: route<'agentId' | 'threadId'>(
    async ({ ctx, params, query }) => ({ body: await getThread(ctx, params, query) }),
    {
      surface: 'invoke',
    },
  ),
})
