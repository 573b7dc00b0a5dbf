import { listMembers } from '@/server/members/list'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/members', {
  GET: route(async ({ ctx }) => ({ body: await listMembers(ctx) })),
})
