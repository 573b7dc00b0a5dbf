import type { ServiceContext } from '../context'
import { TakenOver } from './attempt-failed'
import { isStale, isUnsure, type Moment, moment } from './heard'
import { findPlace } from './place'
import type { Begun } from './plan'
import { RunStopped } from './running'
import { isCancelling } from './stop'

/** Whether an attempt may begin its work without a look at the database. */
export function mayBegin({ place, since }: Begun): boolean {
  return !isUnsure(place.ref.runId, since)
}

/**
 * Looks whether an attempt may still begin its work, again until nothing is heard of the run meanwhile.
 * @throws RunStopped, TakenOver
 */
export async function lookFirst(ctx: ServiceContext, { place: { ref }, at, attempt }: Begun): Promise<void> {
  let since: Moment
  do {
    since = moment()
    const found = await findPlace(ctx, ref, at)
    if ('stop' in found) throw new RunStopped('The run has ended, or continues in another process.')
    if (isCancelling(found.place)) throw new RunStopped('The run was cancelled.')
    const { record } = found
    if (!record || record.endTime || record.attempt !== attempt) throw new TakenOver()
  } while (isStale(ref.runId, since))
}
