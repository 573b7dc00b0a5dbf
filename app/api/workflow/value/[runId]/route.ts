import { methods, route } from '@/server/rest/route'
import { readValue } from '@/server/runs/whole-value'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route<'runId'>(async ({ ctx, params, query }) => ({ body: await readValue(ctx, params.runId, query) })),
})
