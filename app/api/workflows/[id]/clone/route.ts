import { definitionAnswer } from '@/server/rest/definition'
import { methods, route } from '@/server/rest/route'
import { cloneWorkflow } from '@/server/workflows/clone'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route<'id'>(async ({ ctx, params }) => definitionAnswer(await cloneWorkflow(ctx, params.id), 201)),
})
