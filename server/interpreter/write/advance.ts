import { type ServiceContext, withTransaction } from '../../context'
import type { Receipt } from '../../definition/run'
import { ImpossibleState } from '../../errors'
import type { Held } from '../../run-store/held'
import type { Visit } from '../../run-store/names'
import type { StepRecordRow } from '../../run-store/walk-data'
import { TakenOver } from '../flow/failure'
import { isCancelling } from '../flow/stopping'
import type { WalkState } from '../flow/types'
import { holdWalk, receiptOf } from '../plan/state'
import type { Done, Plan, StartedAttempt } from '../plan/types'
import { commitPlan } from './commit'

/** The writes of a walk at a step: a completed step, and what follows it. */
export interface StepResult {
  done: Done
  plan: Plan
}

/** The locked rows always explain why a statement was rejected. If they do not, that is a bug. */
export const MAX_TRIES = 3

/**
 * Continues a walk after a visit: plans in memory, then writes in one statement. If the statement is rejected, the
 * locked rows explain why: the run has ended, another walk has replaced this one, the visit is recorded already, or the
 * run is being cancelled, which `cancelled` handles.
 * @param attempt the attempt that was made; null for a visit without any
 * @throws TakenOver if a later attempt was claimed in the meantime
 */
export async function advance(
  ctx: ServiceContext,
  from: WalkState,
  at: Visit,
  attempt: number | null,
  move: (state: WalkState) => Promise<StepResult | { receipt: Receipt }>,
  cancelled: (tx: Held, state: WalkState, record: StepRecordRow) => Promise<Receipt>,
): Promise<{ receipt: Receipt; begun: StartedAttempt | null }> {
  let state = from
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (!isCancelling(state)) {
      const moved = await move(state)
      if ('receipt' in moved) return { receipt: moved.receipt, begun: null }
      if (await commitPlan(ctx, state.ref, moved.done, moved.plan)) return moved.plan
    }
    const settled = await withTransaction<{ receipt: Receipt } | { state: WalkState }>(ctx, async (tx) => {
      const { held, found: locked } = await holdWalk(tx, state.ref, at)
      if ('stop' in locked) return { receipt: locked.stop }
      const { record } = locked
      if (!record) throw new ImpossibleState('visit-without-record', `${state.ref.runId} has no record of ${at.stepId}`)
      if (record.endTime) return { receipt: receiptOf(record) }
      if (attempt !== null && record.attempt !== attempt) throw new TakenOver()
      if (isCancelling(locked.state)) return { receipt: await cancelled(held, locked.state, record) }
      return { state: locked.state }
    })
    if ('receipt' in settled) return { receipt: settled.receipt, begun: null }
    state = settled.state
  }
  throw new ImpossibleState('move-refused', `${state.ref.runId} cannot record ${at.stepId}, and nothing says why`)
}
