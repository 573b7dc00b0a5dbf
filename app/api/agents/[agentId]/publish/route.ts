import { publishAgent } from '@/server/agents/publish'
import { agentAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/agents/[agentId]/publish', {
  POST: route<'agentId'>(
    async ({ ctx, params, request }) => {
      const ifMatch = request.headers.get('if-match')
      return agentAnswer(await publishAgent(ctx, { id: params.agentId, ifMatch }))
    },
    { surface: 'invoke' },
  ),
})
