import { methods, route } from '@/server/rest/route'
import { readValue } from '@/server/runs/whole-value'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/value/[runId]', {
  GET: route<'runId'>(async ({ ctx, params, query }) => ({ body: await readValue(ctx, params.runId, query) })),
})
