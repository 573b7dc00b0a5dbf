import { methods, route } from '@/server/rest/route'
import { cancelRun } from '@/server/runs/cancel'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/management/cancel', {
  POST: route(async ({ ctx, body }) => ({ body: await cancelRun(ctx, body) })),
})
