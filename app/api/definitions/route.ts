import { exportDefinitions } from '@/server/as-code/export'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/definitions', {
  GET: route(async ({ ctx, query }) => ({ body: await exportDefinitions(ctx, query) })),
})
