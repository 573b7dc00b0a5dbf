import { workflowAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'
import { archiveWorkflow } from '@/server/workflows/archive'
import { getWorkflow } from '@/server/workflows/get'
import { updateWorkflow } from '@/server/workflows/update'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows/[id]', {
  GET: route<'id'>(async ({ ctx, params }) => workflowAnswer(await getWorkflow(ctx, { id: params.id }))),
  PUT: route<'id'>(async ({ ctx, params, body, request }) => {
    const ifMatch = request.headers.get('if-match')
    return workflowAnswer(await updateWorkflow(ctx, { id: params.id, body, ifMatch }))
  }),
  DELETE: route<'id'>(async ({ ctx, params }) => workflowAnswer(await archiveWorkflow(ctx, { id: params.id }))),
})
