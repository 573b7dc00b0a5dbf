import { listAnswer } from '@/server/rest/page'
import { methods, route } from '@/server/rest/route'
import { listToolVersions } from '@/server/tools/list-versions'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/tools/[toolId]/versions', {
  GET: route<'toolId'>(
    async ({ ctx, params, query, request }) =>
      listAnswer(request, await listToolVersions(ctx, { id: params.toolId, page: query })),
    { surface: 'invoke' },
  ),
})
