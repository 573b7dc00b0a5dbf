import { methods, route } from '@/server/rest/route'
import { getInputSchema } from '@/server/workflows/input-schema'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/metadata/input/[workflowId]', {
  GET: route<'workflowId'>(async ({ ctx, params }) => ({ body: await getInputSchema(ctx, { id: params.workflowId }) })),
})
