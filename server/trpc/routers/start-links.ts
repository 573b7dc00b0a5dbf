import { publicOrigin } from '../../http/origin'
import { createStartLink } from '../../links/start/create'
import { type OneStartLink, revokeStartLink } from '../../links/start/revoke'
import type { CreateStartLink } from '../../links/start/schema'
import { browseStartLinks } from '../../views/workflows/start-links'
import { inputWith, router, tenantProcedure } from '../init'

/** A member's operations on the start links of a workflow. Holders of a link use `auth.startLink`. */
export const startLinksRouter = router({
  list: tenantProcedure
    .input(inputWith<{ workflowId: string }>('workflowId'))
    .query(({ ctx, input }) => browseStartLinks(ctx.service, input)),
  create: tenantProcedure
    .input(inputWith<{ workflowId: string; body: CreateStartLink }>('workflowId'))
    .mutation(({ ctx, input: { workflowId, body } }) =>
      createStartLink(ctx.service, { workflowId, body, origin: publicOrigin(ctx.headers) }),
    ),
  revoke: tenantProcedure
    .input(inputWith<OneStartLink>('workflowId', 'linkId'))
    .mutation(({ ctx, input }) => revokeStartLink(ctx.service, input)),
})
