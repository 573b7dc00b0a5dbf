import { changeRole } from '@/server/members/change-role'
import { removeMember } from '@/server/members/remove'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/members/[userId]', {
  PUT: route<'userId'>(async ({ ctx, params, body }) => ({
    body: await changeRole(ctx, { role: body.role, userId: params.userId }),
  })),
  DELETE: route<'userId'>(async ({ ctx, params }) => ({ body: await removeMember(ctx, { userId: params.userId }) })),
})
