import { type ServiceContext, withTransaction } from '../../context'
import { isBranch } from '../../definition/branches'
import { graphOf } from '../../definition/graph'
import type { JsonObject, JsonValue } from '../../definition/json'
import type { Attempt, Receipt } from '../../definition/run'
import { ImpossibleState } from '../../errors'
import type { Held } from '../../run-store/held'
import type { WalkData } from '../../run-store/walk-data'
import type { StepOutput } from '../../steps/define-step'
import { afterCatch, catching, shownExit } from '../flow/exits'
import { AttemptFailed, classify, type Failure, nextDelay, RunStopped, TakenOver } from '../flow/failure'
import { deltaOf, objectOf, outputColumns, storableOutput, withDelta } from '../flow/sizes'
import { cancellationOf, isCancelling, runToStop, STOPPED, stopFailure } from '../flow/stopping'
import type { WalkState } from '../flow/types'
import { usageOf } from '../flow/usage'
import type { NextStep } from '../plan/next-step'
import { planFrom } from '../plan/plan'
import { holdWalk, receiptOf } from '../plan/state'
import { triesOf } from '../plan/tries'
import type { StartedAttempt } from '../plan/types'
import { carryOutCancel, cleanupTimeLeft, endRun } from '../stop/cancel'
import { advance } from '../write/advance'
import { failedStep, finishVisit, moveWalk } from '../write/held'
import { countAttempts, keepAttempts, withdrawQuestions } from '../write/marks'
import { settleStatus } from '../write/settle-status'
import { retryWhileUnavailable } from './retry'

/** Records the output of an attempt, and what follows it. */
export async function recordOutput(
  ctx: ServiceContext,
  begun: StartedAttempt,
  result: StepOutput,
  handoff: NextStep,
): Promise<Receipt> {
  const { at } = begun
  const { saveAs } = begun.config
  let output: JsonValue
  let delta: JsonObject
  let grown: WalkData
  try {
    output = storableOutput(result.output)
    delta = deltaOf(output, saveAs, at.stepId)
    // This cannot change in the meantime: only this walk adds to the data.
    grown = withDelta(begun.state, delta, begun.state.ref, at)
  } catch (err) {
    return recordFailure(ctx, begun, err, handoff)
  }
  const outputData = objectOf(output, saveAs, at.stepId)
  const taken = result.exit ?? 'next'
  const next = graphOf(begun.state.definition).target(at.stepId, taken)
  const exit = shownExit(begun.type, taken)
  const endedAt = ctx.now()
  // One may be open whose tool is gone.
  if (hasAsked(begun)) await settle(ctx, begun, (tx) => withdraw(tx, begun))
  const attempts = [...begun.attempts, attemptRow(begun, endedAt, null)]
  const work = { attempt: begun.attempt, attempts, usage: usageOf(begun.attempts, result.usage ?? null) }
  const step = { at, endedAt, delta, work, exit, ...outputColumns(outputData) }
  const withOutput = (state: WalkState): WalkState => ({
    ...state,
    ...grown,
    outputs: { ...state.outputs, [at.stepId]: outputData },
  })
  const moved = await retryWhileUnavailable(ctx, () =>
    advance(
      ctx,
      begun.state,
      at,
      begun.attempt,
      async (state) => ({
        done: { claims: null, step },
        plan: await planFrom(ctx, withOutput(state), next, handoff),
      }),
      async (tx, state) => {
        await finishVisit(tx, state.ref, step, STOPPED.receipt)
        await carryOutCancel(tx, runToStop(withOutput(state)), { ref: state.ref, next })
        return STOPPED.receipt
      },
    ),
  )
  handoff.give(moved.begun)
  return moved.receipt
}

/**
 * Records a failed attempt: another one is due, the walk continues at an exit for failures, or the step fails for good.
 * @throws AttemptFailed when another attempt is due
 */
export async function recordFailure(
  ctx: ServiceContext,
  begun: StartedAttempt,
  err: unknown,
  handoff: NextStep,
): Promise<Receipt> {
  const failure = classify(err)
  if (failure.internal || failure.code === 'VALUE_TOO_LARGE')
    ctx.log.error({ err, runId: begun.state.ref.runId, stepId: begun.at.stepId }, 'a step failed unexpectedly')
  const cause = { ...failure, outcome: 'failed' as const }
  const delayMs = nextDelay(failure, await triesOf(ctx, begun), begun.config.retry, Math.random())
  if (delayMs === null && !(err instanceof RunStopped) && catching(begun.state, begun.at, cause)) {
    if (hasAsked(begun)) await settle(ctx, begun, (tx) => withdraw(tx, begun))
    return recordCaught(ctx, begun, failure, handoff)
  }
  let again = false
  const receipt = await settle(ctx, begun, async (tx, state) => {
    const now = tx.now()
    const held = { ...begun, state }
    if (isCancelling(state) && (delayMs !== null || err instanceof RunStopped))
      return fail(tx, held, { ...stopFailure(cancellationOf(state.run)), usage: failure.usage }, failure.message)
    const spent = now.getTime() - begun.startedAt.getTime()
    again = delayMs !== null && delayMs + spent <= (await cleanupTimeLeft(tx, state.ref))
    if (!again || delayMs === null) return fail(tx, held, failure)
    if (failure.busy) await countAttempts(tx, begun, begun.attempt - 1)
    else {
      const used = failure.usage === null ? {} : { usage: failure.usage }
      const tried = { ...attemptRow(begun, now, failure.message), ...used, retryInMs: delayMs }
      await keepAttempts(tx, begun, [...begun.attempts, tried])
    }
    return { next: begun.at }
  })
  if (again && delayMs !== null) throw new AttemptFailed(delayMs)
  return receipt
}

/** Whether there may be questions of the visit. */
function hasAsked({ attempts }: StartedAttempt): boolean {
  return attempts.some(({ part }) => part === 'asks')
}

/** A visit that ends takes no answers any more. If the process dies now, its agent gets no approval. */
async function withdraw(tx: Held, begun: StartedAttempt): Promise<Receipt> {
  await withdrawQuestions(tx, begun)
  await settleStatus(tx, begun.state.ref)
  return { next: begun.at }
}

/** Records a step that failed for good, and continues at its `error` exit or the failure path. */
async function recordCaught(
  ctx: ServiceContext,
  begun: StartedAttempt,
  failure: Failure,
  handoff: NextStep,
): Promise<Receipt> {
  const { at, attempt } = begun
  const endedAt = ctx.now()
  const work = {
    attempt,
    attempts: [...begun.attempts, attemptRow(begun, endedAt, failure.message)],
    usage: usageOf(begun.attempts, failure.usage),
  }
  const moved = await retryWhileUnavailable(ctx, () =>
    advance(
      ctx,
      begun.state,
      at,
      attempt,
      async (state) => {
        const caught = catching(state, at, { ...failure, outcome: 'failed' })
        if (!caught) throw new ImpossibleState('caught-by-nothing', `${at.stepId} has no error exit`)
        const { delta, exit, handled } = caught.columns
        const told = { ...failure, handled: handled === true }
        return {
          done: { claims: null, step: { at, endedAt, delta, exit, failure: told, work, ...outputColumns({}) } },
          plan: await planFrom(ctx, afterCatch(state, caught), caught.target, handoff),
        }
      },
      (tx, state) => fail(tx, { ...begun, state }, failure),
    ),
  )
  handoff.give(moved.begun)
  return moved.receipt
}

/**
 * Writes the end of a failed attempt, unless the run has ended or the visit is already recorded.
 * @throws TakenOver if another process has claimed a later attempt
 */
export function settle(
  ctx: ServiceContext,
  begun: StartedAttempt,
  write: (tx: Held, state: WalkState) => Promise<Receipt>,
): Promise<Receipt> {
  return retryWhileUnavailable(ctx, () =>
    withTransaction<Receipt>(ctx, async (tx) => {
      const { held, found: locked } = await holdWalk(tx, begun.state.ref, begun.at)
      if ('stop' in locked) return locked.stop
      if (locked.record?.endTime) return receiptOf(locked.record)
      if (locked.record?.attempt !== begun.attempt) throw new TakenOver()
      return write(held, locked.state)
    }),
  )
}

/**
 * Fails a step for good, and its run with it.
 * @param cause the last attempt's own error, if it differs
 */
export async function fail(
  tx: Held,
  begun: StartedAttempt,
  failure: Pick<Failure, 'code' | 'message'> & { usage?: Failure['usage'] },
  cause: string = failure.message,
): Promise<Receipt> {
  const now = tx.now()
  const { state, at } = begun
  // In a branch, the failure is passed to its fork.
  const arrives = isBranch(state.ref.branch) && !isCancelling(state)
  const receipt: Receipt = arrives ? { arrive: true } : { stop: 'ended' }
  const attempts = [...begun.attempts, attemptRow(begun, now, cause)]
  const work = { attempt: begun.attempt, attempts, usage: usageOf(begun.attempts, failure.usage ?? null) }
  if (hasAsked(begun)) await withdrawQuestions(tx, begun)
  await finishVisit(tx, state.ref, { ...failedStep(at, failure, now), work }, receipt)
  const error = { code: failure.code, message: failure.message, stepId: at.stepId }
  if (arrives && hasAsked(begun)) await settleStatus(tx, state.ref)
  if (arrives) await moveWalk(tx, state.ref, { arrival: { failed: error, outcome: 'failed' } })
  else await endRun(tx, state, { status: 'failed', outcome: 'failed', written: state, error, stepId: at.stepId })
  return receipt
}

/** An attempt that has ended, as the record of its visit keeps it. */
export function attemptRow(begun: StartedAttempt, ended: Date, error: string | null): Attempt {
  return {
    attempt: begun.attempt,
    startTime: begun.startedAt.toISOString(),
    endTime: ended.toISOString(),
    ...(error === null ? {} : { error }),
    ...begun.log.columns,
  }
}
