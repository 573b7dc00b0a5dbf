import { createInvitation } from '@/server/members/invitations/create'
import { listInvitations } from '@/server/members/invitations/list'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/invitations', {
  GET: route(async ({ ctx }) => ({ body: await listInvitations(ctx) })),
  // A stored response would contain the token.
  POST: route(async ({ ctx, body }) => ({ status: 201, body: await createInvitation(ctx, body) }), {
    idempotent: false,
  }),
})
