import { methods, route } from '@/server/rest/route'
import { terminateRun } from '@/server/runs/terminate'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/management/terminate', {
  POST: route(async ({ ctx, body }) => ({ body: await terminateRun(ctx, body) })),
})
