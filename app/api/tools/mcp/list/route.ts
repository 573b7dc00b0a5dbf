import { methods, route } from '@/server/rest/route'
import { listRemoteTools } from '@/server/tools/list-remote'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/tools/mcp/list', {
  POST: route(async ({ ctx, body, signal }) => ({ body: await listRemoteTools(ctx, body, signal) }), {
    surface: 'invoke',
    limit: 'invokes',
    idempotent: false,
  }),
})
