import { listAgentVersions } from '@/server/agents/list-versions'
import { listHeaders } from '@/server/rest/page'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route<'agentId'>(
    async ({ ctx, params, query, request }) => {
      const page = await listAgentVersions(ctx, { agentId: params.agentId, page: query })
      return { headers: listHeaders(request.url, page), body: page.items }
    },
    { surface: 'invoke' },
  ),
})
