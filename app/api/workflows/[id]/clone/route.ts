import { workflowAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'
import { cloneWorkflow } from '@/server/workflows/clone'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route<'id'>(async ({ ctx, params }) => workflowAnswer(await cloneWorkflow(ctx, params.id), 201)),
})
