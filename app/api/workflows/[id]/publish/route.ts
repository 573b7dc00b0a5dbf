import { workflowAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'
import { publishWorkflow } from '@/server/workflows/publish'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows/[id]/publish', {
  POST: route<'id'>(async ({ ctx, params, request }) => {
    const ifMatch = request.headers.get('if-match')
    return workflowAnswer(await publishWorkflow(ctx, { id: params.id, ifMatch }))
  }),
})
