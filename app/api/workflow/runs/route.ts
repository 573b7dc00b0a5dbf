import { methods, route } from '@/server/rest/route'
import { listRuns } from '@/server/runs/list'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/runs', {
  GET: route(async ({ ctx, query }) => ({ body: await listRuns(ctx, query) })),
})
