import { methods, route } from '@/server/rest/route'
import { readHistory } from '@/server/runs/history'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/history/[runId]', {
  GET: route<'runId'>(async ({ ctx, params, query }) => ({ body: await readHistory(ctx, params.runId, query) })),
})
