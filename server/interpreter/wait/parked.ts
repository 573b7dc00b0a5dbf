import { type ServiceContext, systemContext } from '../../context'
import type { PauseAnswer } from '../../definition/run'
import { outgoing } from '../../outbox'
import { definitionOf } from '../../run-store/definition'
import type { WalkClaim } from '../../run-store/names'
import { dataOf } from '../../run-store/walk-data'
import { permanentFailure } from '../flow/failure'
import type { Parked } from '../flow/types'
import { keepClaimed } from '../write/claimed-start'
import { commitPlan, isSettled } from '../write/commit'
import { planAfter } from './answered'

/**
 * Stores the answer to a pause and begins the next steps, in one statement and in this process. The statement applies
 * only if the walk still waits at the pause.
 * @returns whether the run continues, or ended or paused with the answer; null if nothing was written: the run was
 * changed in the meantime, or this process has no free slot to drive it
 */
export async function answerParked(
  ctx: ServiceContext,
  { run, written, walk, record, pauseId }: Parked,
  answer: PauseAnswer,
): Promise<'goes on' | 'settled' | null> {
  const { branch, epoch, segment } = walk
  const next = { tenantId: run.tenantId, runId: run.id, branch, epoch, segment: segment + 1 }
  const event = outgoing(ctx, 'workflow/walk.requested', next)
  const { engineRunId } = event
  try {
    if (engineRunId === null) return null
    const ref = { ...next, engineRunId }
    const { tenantId, db, log, now } = ctx
    const system = systemContext({ tenantId, db, log, now })
    const planned = await planNext(system, { run, written, ref, record, pauseId }, answer)
    if (!planned) return null
    const { step, plan } = planned
    const done = { claims: 'resting' as const, step: { ...step, given: { answer, by: ctx.actor.id } } }
    const settled = isSettled(plan)
    // The next steps run as the system. The statement still checks the caller's key, if it has not been read yet.
    const asked = { ...system, cachedCaller: ctx.cachedCaller }
    const committed = await commitPlan(asked, ref, done, plan, settled ? undefined : event)
    if (!committed) return null
    if (settled) return 'settled'
    keepClaimed(engineRunId, plan)
    event.committed(committed.generation)
    return 'goes on'
  } catch (err) {
    // The outcome of the statement may be unknown: nobody may write it again.
    if (permanentFailure(err) === null) throw err
    // Postgres rejects a value of the next steps. The answer is stored without them, and the run fails with the reason.
    return null
  } finally {
    // Releases the reserved slot, unless the event was committed.
    event.notWritten()
  }
}

/**
 * The plan after the answer. Null if it cannot be made now: the answer is stored, and the rest is planned when the walk
 * is claimed.
 */
async function planNext(
  ctx: ServiceContext,
  { run, written, ref, record, pauseId }: Omit<Parked, 'walk'> & { ref: WalkClaim },
  answer: PauseAnswer,
) {
  try {
    const definition = await definitionOf(ctx, run)
    const state = { run, ref, definition, ...dataOf(written, null), outputs: {}, visits: null }
    return await planAfter(ctx, state, record, { id: pauseId, answer }, { attempt: 1, rests: true })
  } catch (err) {
    ctx.log.warn({ err, runId: run.id }, 'what follows an answer could not be planned with it')
    return null
  }
}
