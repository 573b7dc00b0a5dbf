import { definitionAnswer } from '@/server/http/definition'
import { methods, route } from '@/server/http/route'
import { cloneWorkflow } from '@/server/workflows/clone'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route<'id'>(async ({ ctx, params }) => definitionAnswer(await cloneWorkflow(ctx, params.id), 201)),
})
