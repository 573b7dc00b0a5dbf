import { and, eq } from 'drizzle-orm'
import { walks } from '@/db/schema/runs'
import { type ServiceContext, withTransaction } from '../../context'
import type { Receipt } from '../../definition/run'
import { walkIs } from '../../run-store/conditions'
import { hold } from '../../run-store/held'
import type { WalkClaim } from '../../run-store/names'
import { NEXT_SEGMENT, requestWalk } from '../write/request'

/** Hands the walk over to a new engine run, which continues at the open record. */
export async function requestSegment(ctx: ServiceContext, ref: WalkClaim): Promise<Receipt> {
  return withTransaction<Receipt>(ctx, async (transaction) => {
    // Locked like every other change: a record that is being written concurrently would miss it otherwise.
    const tx = await hold(transaction, ref)
    const mine = and(
      walkIs(ref),
      eq(walks.epoch, ref.epoch),
      eq(walks.segment, ref.segment),
      eq(walks.status, 'walking'),
      eq(walks.engineRunId, ref.engineRunId),
    )
    return { stop: (await requestWalk(tx, ref, mine, NEXT_SEGMENT)) ? 'handed-over' : 'superseded' }
  })
}
