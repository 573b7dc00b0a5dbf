import { methods, route } from '@/server/http/route'
import { getWorkflow } from '@/server/workflows/get'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route<'id'>(async ({ ctx, params }) => ({ body: await getWorkflow(ctx, params.id) })),
})
