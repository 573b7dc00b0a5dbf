import { publicOrigin } from '../../http/origin'
import { createTaskLink } from '../../links/create'
import { revokeTaskLink } from '../../links/revoke'
import { browseTaskLinks } from '../../views/tasks/links'
import { inputWith, router, tenantProcedure } from '../init'

/** A member's operations on the links of a task. Holders of a link use `auth.taskLink`. */
export const taskLinksRouter = router({
  list: tenantProcedure
    .input(inputWith<{ runId: string; pauseId: string }>('runId', 'pauseId'))
    .query(({ ctx, input }) => browseTaskLinks(ctx.service, input)),
  create: tenantProcedure
    .input(inputWith<{ runId: string; body: unknown }>('runId'))
    .mutation(({ ctx, input: { runId, body } }) =>
      createTaskLink(ctx.service, { runId, body, origin: publicOrigin(ctx.headers) }),
    ),
  revoke: tenantProcedure
    .input(inputWith<{ runId: string; linkId: string }>('runId', 'linkId'))
    .mutation(({ ctx, input }) => revokeTaskLink(ctx.service, input)),
})
