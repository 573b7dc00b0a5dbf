import type { TurnAttempt } from '../../agents/journal/attempt'
import type { ServiceContext } from '../../context'
import { idempotencyKeyOf } from '../../run-store/names'
import { TakenOver } from '../flow/failure'
import { usageOf } from '../flow/usage'
import { mark } from '../notice/heard'
import type { StartedAttempt } from '../plan/types'
import { checkBeforeEffect, isStillCurrent } from './may-begin'
import { retryWhileUnavailable } from './retry'

/** An attempt, for the turn of an agent. A record under its fence also shows that it may begin another call. */
export function turnAttempt(ctx: ServiceContext, begun: StartedAttempt): TurnAttempt {
  const { state, at, attempt } = begun
  let { since } = begun
  return {
    runId: state.ref.runId,
    branch: state.ref.branch,
    ...at,
    attempt,
    key: idempotencyKeyOf(state.ref, at),
    continues: attempt > 1 || state.run.retryOf !== null,
    used: usageOf(begun.attempts, null),
    async mayBegin() {
      const asked = mark()
      if (isStillCurrent({ ...begun, since })) return
      await retryWhileUnavailable(ctx, () => checkBeforeEffect(ctx, begun))
      since = asked
    },
    async fenced(statement) {
      const asked = mark()
      const outcome = await retryWhileUnavailable(ctx, statement)
      if (outcome === 'refused') throw new TakenOver()
      // A cancel that has been asked for is found by the next check.
      since = outcome === 'stopping' ? LONG_AGO : asked
    },
  }
}

const LONG_AGO = { at: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }
