import { definitionAnswer } from '@/server/rest/definition'
import { methods, route } from '@/server/rest/route'
import { publishWorkflow } from '@/server/workflows/publish'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route<'id'>(async ({ ctx, params, request }) => {
    const ifMatch = request.headers.get('if-match')
    return definitionAnswer(await publishWorkflow(ctx, params.id, { ifMatch }))
  }),
})
