import { methods, route } from '@/server/rest/route'
import { deleteWorkflowPermanently } from '@/server/workflows/delete-permanently'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows/[id]/permanent', {
  DELETE: route<'id'>(async ({ ctx, params, query }) => ({
    body: await deleteWorkflowPermanently(ctx, { id: params.id, query }),
  })),
})
