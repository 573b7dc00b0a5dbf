import { createAgent } from '@/server/agents/create'
import { listAgents } from '@/server/agents/list'
import { agentAnswer } from '@/server/rest/answers'
import { listAnswer } from '@/server/rest/page'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/agents', {
  GET: route(async ({ ctx, query, request }) => listAnswer(request, await listAgents(ctx, query)), {
    surface: 'invoke',
  }),
  POST: route(async ({ ctx, body }) => agentAnswer(await createAgent(ctx, body), 201), { surface: 'invoke' }),
})
