import { workflowAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'
import { duplicateWorkflow } from '@/server/workflows/duplicate'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows/[id]/clone', {
  POST: route<'id'>(async ({ ctx, params }) => workflowAnswer(await duplicateWorkflow(ctx, { id: params.id }), 201)),
})
