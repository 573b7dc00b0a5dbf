import { listAgentVersions } from '@/server/agents/list-versions'
import { listAnswer } from '@/server/rest/page'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/agents/[agentId]/versions', {
  GET: route<'agentId'>(
    async ({ ctx, params, query, request }) =>
      listAnswer(request, await listAgentVersions(ctx, { id: params.agentId, page: query })),
    { surface: 'invoke' },
  ),
})
