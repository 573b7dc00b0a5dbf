import { definitionAnswer } from '@/server/http/definition'
import { methods, route } from '@/server/http/route'
import { unarchiveWorkflow } from '@/server/workflows/archive'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route<'id'>(async ({ ctx, params }) => definitionAnswer(await unarchiveWorkflow(ctx, params.id))),
})
