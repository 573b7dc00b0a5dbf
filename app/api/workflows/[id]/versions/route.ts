import { listAnswer } from '@/server/rest/page'
import { methods, route } from '@/server/rest/route'
import { listWorkflowVersions } from '@/server/workflows/list-versions'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows/[id]/versions', {
  GET: route<'id'>(async ({ ctx, params, query, request }) =>
    listAnswer(request, await listWorkflowVersions(ctx, { id: params.id, page: query })),
  ),
})
