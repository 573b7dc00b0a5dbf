import { type BeHere, beHere } from '../../live/be-here'
import { followLive } from '../../live/follow'
import type { FollowLive } from '../../live/schema'
import { inputWith, router, tenantProcedure } from '../init'

export const liveRouter = router({
  /** Streams what an open page should reload. */
  changes: tenantProcedure
    .meta({ spare: true })
    .input(inputWith<FollowLive>('tab'))
    .subscription(({ ctx, input }) => followLive(ctx.service, input, ctx.left)),
  /** Repeated by every open editor. It stores nothing. */
  here: tenantProcedure.input(inputWith<BeHere>('id', 'tab')).query(({ ctx, input }) => beHere(ctx.service, input)),
})
