import type { ServiceContext } from '../../context'
import { RunStopped, TakenOver } from '../flow/failure'
import { isCancelling } from '../flow/stopping'
import { changedSince, type Mark, mark, mayHaveChanged } from '../notice/heard'
import { findWalkState } from '../plan/state'
import type { StartedAttempt } from '../plan/types'

/** Whether an attempt may begin its work without reading the database. */
export function isStillCurrent({ state, since }: StartedAttempt): boolean {
  return !mayHaveChanged(state.ref.runId, since)
}

/**
 * Checks whether an attempt may still begin its work, repeating until no notification about the run arrives during the
 * check.
 * @throws RunStopped, TakenOver
 */
export async function checkBeforeEffect(
  ctx: ServiceContext,
  { state: { ref }, at, attempt }: StartedAttempt,
): Promise<void> {
  let since: Mark
  do {
    since = mark()
    const found = await findWalkState(ctx, ref, at)
    if ('stop' in found) throw new RunStopped('The run has ended, or continues in another process.')
    if (isCancelling(found.state)) throw new RunStopped('The run was cancelled.')
    const { record } = found
    if (!record || record.endTime || record.attempt !== attempt) throw new TakenOver()
  } while (changedSince(ref.runId, since))
}
