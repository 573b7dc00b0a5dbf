import { publicOrigin } from '@/server/http/origin'
import { createTaskLink } from '@/server/links/create'
import { listTaskLinks } from '@/server/links/list'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/task-links/[runId]', {
  GET: route<'runId'>(async ({ ctx, params, query }) => ({
    body: await listTaskLinks(ctx, { runId: params.runId, query }),
  })),
  // A stored answer would hold the link.
  POST: route<'runId'>(
    async ({ ctx, params, body, request }) => ({
      status: 201,
      body: await createTaskLink(ctx, { runId: params.runId, body, origin: publicOrigin(request.headers) }),
    }),
    { idempotent: false },
  ),
})
