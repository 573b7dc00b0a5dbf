import type { TurnAttempt } from '../../agents/journal/attempt'
import type { ServiceContext } from '../../context'
import { AGENT_TURN } from '../../definition/agent-turn'
import { sensitiveFields } from '../../definition/sensitive'
import { env } from '../../env'
import { olderLives } from '../../outbox'
import { idempotencyKeyOf } from '../../run-store/names'
import { pathAside } from '../flow/aside'
import { TakenOver } from '../flow/failure'
import { usageOf } from '../flow/usage'
import { mark } from '../notice/heard'
import { notifyChange } from '../notice/watch'
import type { StartedAttempt } from '../plan/types'
import { checkBeforeEffect, isStillCurrent } from './may-begin'
import { retryWhileUnavailable } from './retry'

/** An attempt, for the turn of an agent. A record under its fence also shows that it may begin another call. */
export function turnAttempt(ctx: ServiceContext, begun: StartedAttempt, stopping: () => boolean): TurnAttempt {
  const { state, at, attempt } = begun
  let { since } = begun
  const endsAt = performance.now() + env().longestStepMs
  return {
    runId: state.ref.runId,
    branch: state.ref.branch,
    ...at,
    attempt,
    key: idempotencyKeyOf(state.ref, at),
    // Most steps call no agent.
    get hides() {
      return sensitiveFields(state.definition)
    },
    most: state.definition.limits?.agents,
    continues: attempt > 1 || state.run.retryOf !== null || state.run.workflowId === AGENT_TURN.workflowId,
    used: usageOf(begun.attempts, null),
    // An older process knows no parts, and would make a call without its decision.
    mayAsk: pathAside(state) === null && !olderLives(),
    endsSoon: () =>
      !olderLives() && (stopping() || endsAt - performance.now() < Math.min(env().AGENT_TIMEOUT_MS, LONGEST_CALL_MS)),
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
      notifyChange(state.ref.runId)
      // A cancel that has been asked for is found by the next check.
      since = outcome === 'stopping' ? LONG_AGO : asked
    },
  }
}

/** How much time must be left for another call, where a step may not take all of its own. */
const LONGEST_CALL_MS = 120_000
const LONG_AGO = { at: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }
