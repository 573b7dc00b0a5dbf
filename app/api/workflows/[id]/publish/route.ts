import { methods, route } from '@/server/http/route'
import { publishWorkflow } from '@/server/workflows/publish'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route<'id'>(async ({ ctx, params }) => ({ body: await publishWorkflow(ctx, params.id) })),
})
