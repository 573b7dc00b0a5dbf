import { methods, route } from '@/server/rest/route'
import { getRunStatus } from '@/server/runs/status'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route<'runId'>(async ({ ctx, params }) => ({ body: await getRunStatus(ctx, { runId: params.runId }) })),
})
