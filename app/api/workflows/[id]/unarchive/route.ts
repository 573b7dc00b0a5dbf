import { workflowAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'
import { unarchiveWorkflow } from '@/server/workflows/archive'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows/[id]/unarchive', {
  POST: route<'id'>(async ({ ctx, params }) => workflowAnswer(await unarchiveWorkflow(ctx, { id: params.id }))),
})
