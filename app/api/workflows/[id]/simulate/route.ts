import { methods, route } from '@/server/rest/route'
import { simulateWorkflow } from '@/server/workflows/simulate'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows/[id]/simulate', {
  POST: route<'id'>(async ({ ctx, params, body }) => ({ body: await simulateWorkflow(ctx, { id: params.id, body }) })),
})
