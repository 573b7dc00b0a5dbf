import { listHeaders } from '@/server/rest/page'
import { methods, route } from '@/server/rest/route'
import { listVersions } from '@/server/workflows/list-versions'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route<'id'>(async ({ ctx, params, query, request }) => {
    const page = await listVersions(ctx, { id: params.id, page: query })
    return { headers: listHeaders(request.url, page), body: page.items }
  }),
})
