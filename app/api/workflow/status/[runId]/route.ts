import { methods, route } from '@/server/rest/route'
import { getRunStatus } from '@/server/runs/status'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/status/[runId]', {
  GET: route<'runId'>(async ({ ctx, params }) => ({ body: await getRunStatus(ctx, { runId: params.runId }) }), {
    checksKey: true,
  }),
})
