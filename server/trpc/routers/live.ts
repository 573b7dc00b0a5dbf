import { type BeHere, beHere } from '../../live/be-here'
import { followLive } from '../../live/follow'
import type { FollowLive } from '../../live/schema'
import { given, router, tenantProcedure } from '../init'

export const liveRouter = router({
  /** Streams what an open page should reload. */
  changes: tenantProcedure
    .meta({ spare: true })
    .input(given<FollowLive>('tab'))
    .subscription(({ ctx, input }) => followLive(ctx.service, input, ctx.left)),
  /** Repeated by every open editor. It stores nothing. */
  here: tenantProcedure.input(given<BeHere>('id', 'tab')).query(({ ctx, input }) => beHere(ctx.service, input)),
})
