import { revokeInvitation } from '@/server/members/invitations/revoke'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/invitations/[invitationId]', {
  DELETE: route<'invitationId'>(async ({ ctx, params }) => ({
    body: await revokeInvitation(ctx, params.invitationId),
  })),
})
