import { readSession } from '../../auth/session'
import type { BeginUpload } from '../../files/direct/schema'
import { answerTaskLink } from '../../links/answer'
import { openTaskLink } from '../../links/open'
import type { AnswerTaskLink } from '../../links/schema'
import { openStartLink } from '../../links/start/open'
import type { StartByLink } from '../../links/start/schema'
import { startByLink } from '../../links/start/submit'
import { beginLinkUpload, cancelLinkUpload, completeLinkUpload } from '../../links/start/upload'
import { type AcceptInput, acceptInvitation } from '../../members/invitations/accept'
import { lookUpInvitation } from '../../members/invitations/look-up'
import { type SetUpInput, setUp } from '../../tenants/setup/set-up'
import { getSetupState, previewSlug } from '../../tenants/setup/state'
import { inputWith, publicProcedure, router } from '../init'
import { visitorOf } from '../visitor-of'

/** For people who are not signed in. */
export const authRouter = router({
  setupState: publicProcedure.query(({ ctx }) => getSetupState(visitorOf(ctx))),
  previewSlug: publicProcedure
    .input(inputWith<{ name: string }>())
    .query(({ ctx, input }) => previewSlug(visitorOf(ctx), input)),
  setup: publicProcedure.input(inputWith<SetUpInput>()).mutation(({ ctx, input }) => setUp(visitorOf(ctx), input)),
  invitation: publicProcedure
    .input(inputWith<{ token: string }>('token'))
    .query(({ ctx, input }) => lookUpInvitation(visitorOf(ctx), input.token)),
  acceptInvitation: publicProcedure
    .input(inputWith<AcceptInput>())
    .mutation(async ({ ctx, input }) => acceptInvitation(visitorOf(ctx), await readSession(ctx.headers), input)),
  taskLink: publicProcedure
    .input(inputWith<{ token: string }>('token'))
    .query(({ ctx, input }) => openTaskLink(visitorOf(ctx), input)),
  answerTaskLink: publicProcedure
    .input(inputWith<AnswerTaskLink>('token'))
    .mutation(({ ctx, input }) => answerTaskLink(visitorOf(ctx), input)),
  startLink: publicProcedure
    .input(inputWith<{ token: string }>('token'))
    .query(({ ctx, input }) => openStartLink(visitorOf(ctx), input)),
  startByLink: publicProcedure
    .input(inputWith<StartByLink>('token'))
    .mutation(({ ctx, input }) => startByLink(visitorOf(ctx), input, ctx.countedLink)),
  beginUpload: publicProcedure
    .input(inputWith<{ token: string; body: BeginUpload }>('token'))
    .mutation(({ ctx, input }) => beginLinkUpload(visitorOf(ctx), input)),
  completeUpload: publicProcedure
    .input(inputWith<{ token: string; fileId: string }>('token', 'fileId'))
    .mutation(({ ctx, input }) => completeLinkUpload(visitorOf(ctx), input)),
  cancelUpload: publicProcedure
    .input(inputWith<{ token: string; fileId: string }>('token', 'fileId'))
    .mutation(({ ctx, input }) => cancelLinkUpload(visitorOf(ctx), input)),
})
