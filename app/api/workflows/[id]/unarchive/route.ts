import { definitionAnswer } from '@/server/rest/definition'
import { methods, route } from '@/server/rest/route'
import { unarchiveWorkflow } from '@/server/workflows/archive'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route<'id'>(async ({ ctx, params }) => definitionAnswer(await unarchiveWorkflow(ctx, params.id))),
})
