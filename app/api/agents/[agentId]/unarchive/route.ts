import { unarchiveAgent } from '@/server/agents/archive'
import { agentAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/agents/[agentId]/unarchive', {
  POST: route<'agentId'>(async ({ ctx, params }) => agentAnswer(await unarchiveAgent(ctx, { id: params.agentId })), {
    surface: 'invoke',
  }),
})
