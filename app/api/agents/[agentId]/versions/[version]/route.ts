import { getAgentVersion } from '@/server/agents/get-version'
import { agentAnswer } from '@/server/http/agent'
import { methods, route } from '@/server/http/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route<'agentId' | 'version'>(async ({ ctx, params }) => agentAnswer(await getAgentVersion(ctx, params)), {
    surface: 'invoke',
  }),
})
