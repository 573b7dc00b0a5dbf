import { renewInvitation } from '@/server/members/invitations/renew'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/invitations/[invitationId]/renew', {
  // A stored response would contain the token.
  POST: route<'invitationId'>(async ({ ctx, params }) => ({ body: await renewInvitation(ctx, params.invitationId) }), {
    idempotent: false,
  }),
})
