import { getAgentVersion } from '@/server/agents/get-version'
import { agentAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/agents/[agentId]/versions/[version]', {
  GET: route<'agentId' | 'version'>(
    async ({ ctx, params }) => agentAnswer(await getAgentVersion(ctx, { id: params.agentId, version: params.version })),
    {
      surface: 'invoke',
    },
  ),
})
