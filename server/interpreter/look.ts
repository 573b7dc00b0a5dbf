import type { ServiceContext } from '../context'
import { TakenOver } from './attempt-failed'
import { isStale, isUnsure, type Moment, moment } from './last-changes'
import type { Begun } from './plan'
import { RunStopped } from './running'
import { isCancelling } from './stop'
import { findWalkState } from './walk-state'

/** Whether an attempt may begin its work without reading the database. */
export function mayBegin({ state, since }: Begun): boolean {
  return !isUnsure(state.ref.runId, since)
}

/**
 * Checks whether an attempt may still begin its work, and again until no notification about the run has come meanwhile.
 * @throws RunStopped, TakenOver
 */
export async function lookFirst(ctx: ServiceContext, { state: { ref }, at, attempt }: Begun): Promise<void> {
  let since: Moment
  do {
    since = moment()
    const found = await findWalkState(ctx, ref, at)
    if ('stop' in found) throw new RunStopped('The run has ended, or continues in another process.')
    if (isCancelling(found.state)) throw new RunStopped('The run was cancelled.')
    const { record } = found
    if (!record || record.endTime || record.attempt !== attempt) throw new TakenOver()
  } while (isStale(ref.runId, since))
}
