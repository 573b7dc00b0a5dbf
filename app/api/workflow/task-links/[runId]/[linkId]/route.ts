import { revokeTaskLink } from '@/server/links/revoke'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/task-links/[runId]/[linkId]', {
  DELETE: route<'runId' | 'linkId'>(async ({ ctx, params }) => ({ body: await revokeTaskLink(ctx, params) })),
})
