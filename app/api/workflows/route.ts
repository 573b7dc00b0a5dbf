import { workflowAnswer } from '@/server/rest/answers'
import { listAnswer } from '@/server/rest/page'
import { methods, route } from '@/server/rest/route'
import { createWorkflow } from '@/server/workflows/create'
import { listWorkflows } from '@/server/workflows/list'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows', {
  GET: route(async ({ ctx, query, request }) => listAnswer(request, await listWorkflows(ctx, query))),
  POST: route(async ({ ctx, body }) => workflowAnswer(await createWorkflow(ctx, body), 201)),
})
