import { listHeaders } from '@/server/rest/page'
import { methods, route } from '@/server/rest/route'
import { listToolVersions } from '@/server/tools/versions'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route<'toolId'>(
    async ({ ctx, params, query, request }) => {
      const page = await listToolVersions(ctx, { id: params.toolId, page: query })
      return { headers: listHeaders(request.url, page), body: page.items }
    },
    { surface: 'invoke' },
  ),
})
