import { archiveAgent } from '@/server/agents/archive'
import { getAgent } from '@/server/agents/get'
import { updateAgent } from '@/server/agents/update'
import { agentAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'

const surface = 'invoke'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/agents/[agentId]', {
  GET: route<'agentId'>(async ({ ctx, params }) => agentAnswer(await getAgent(ctx, { id: params.agentId })), {
    surface,
  }),
  PUT: route<'agentId'>(
    async ({ ctx, params, body, request }) => {
      const ifMatch = request.headers.get('if-match')
      return agentAnswer(await updateAgent(ctx, { id: params.agentId, body, ifMatch }))
    },
    { surface },
  ),
  DELETE: route<'agentId'>(async ({ ctx, params }) => agentAnswer(await archiveAgent(ctx, { id: params.agentId })), {
    surface,
  }),
})
