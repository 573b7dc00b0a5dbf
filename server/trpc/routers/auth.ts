import { readSession } from '../../auth/session'
import type { Visitor } from '../../auth/visitor'
import { now } from '../../clock'
import { database } from '../../database'
import { answerTaskLink } from '../../links/answer'
import { openTaskLink } from '../../links/open'
import type { AnswerTaskLink } from '../../links/schema'
import { log } from '../../log'
import { type AcceptInput, acceptInvitation } from '../../members/invitations/accept'
import { lookUpInvitation } from '../../members/invitations/look-up'
import { type SetUpInput, setUp } from '../../tenants/setup/set-up'
import { getSetupState, previewSlug } from '../../tenants/setup/state'
import { inputWith, publicProcedure, router, type TrpcContext } from '../init'

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
})

function visitorOf({ headers, requestId }: TrpcContext): Visitor {
  return { headers, requestId, db: database().db, log: log().child({ requestId }), now }
}
