import { createAgent } from '@/server/agents/create'
import { listAgents } from '@/server/agents/list'
import { agentAnswer } from '@/server/rest/answers'
import { listHeaders } from '@/server/rest/page'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route(
    async ({ ctx, query, request }) => {
      const page = await listAgents(ctx, query)
      return { headers: listHeaders(request.url, page), body: page.items }
    },
    { surface: 'invoke' },
  ),
  POST: route(async ({ ctx, body }) => agentAnswer(await createAgent(ctx, body), 201), { surface: 'invoke' }),
})
