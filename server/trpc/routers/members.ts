import { type ChangeRoleInput, changeRole } from '../../members/change-role'
import { createInvitation, type InviteInput } from '../../members/invitations/create'
import { listInvitations } from '../../members/invitations/list'
import { renewInvitation } from '../../members/invitations/renew'
import { revokeInvitation } from '../../members/invitations/revoke'
import { leaveTenant } from '../../members/leave'
import { listMembers } from '../../members/list'
import { readOwnMails, type SetMailsInput, setOwnMails } from '../../members/own-mails'
import { removeMember } from '../../members/remove'
import { type DeleteRunView, deleteRunView, listRunViews, type SaveRunView, saveRunView } from '../../members/run-views'
import { inputWith, router, tenantProcedure } from '../init'

export const membersRouter = router({
  list: tenantProcedure.query(({ ctx }) => listMembers(ctx.service)),
  changeRole: tenantProcedure
    .input(inputWith<ChangeRoleInput>())
    .mutation(({ ctx, input }) => changeRole(ctx.service, input)),
  remove: tenantProcedure
    .input(inputWith<{ userId: string }>('userId'))
    .mutation(({ ctx, input }) => removeMember(ctx.service, input)),
  leave: tenantProcedure.mutation(({ ctx }) => leaveTenant(ctx.service)),
  ownMails: tenantProcedure.query(({ ctx }) => readOwnMails(ctx.service)),
  setOwnMails: tenantProcedure
    .input(inputWith<SetMailsInput>())
    .mutation(({ ctx, input }) => setOwnMails(ctx.service, input)),
  runViews: tenantProcedure.query(({ ctx }) => listRunViews(ctx.service)),
  saveRunView: tenantProcedure
    .input(inputWith<SaveRunView>())
    .mutation(({ ctx, input }) => saveRunView(ctx.service, input)),
  deleteRunView: tenantProcedure
    .input(inputWith<DeleteRunView>())
    .mutation(({ ctx, input }) => deleteRunView(ctx.service, input)),
  invitations: tenantProcedure.query(({ ctx }) => listInvitations(ctx.service)),
  invite: tenantProcedure
    .input(inputWith<InviteInput>())
    .mutation(({ ctx, input }) => createInvitation(ctx.service, input)),
  renewInvitation: tenantProcedure
    .input(inputWith<{ id: string }>('id'))
    .mutation(({ ctx, input }) => renewInvitation(ctx.service, input.id)),
  revokeInvitation: tenantProcedure
    .input(inputWith<{ id: string }>('id'))
    .mutation(({ ctx, input }) => revokeInvitation(ctx.service, input.id)),
})
