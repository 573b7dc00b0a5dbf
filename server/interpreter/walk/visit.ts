import { type ServiceContext, withTransaction } from '../../context'
import type { Receipt } from '../../definition/run'
import { ImpossibleState, StepFailure } from '../../errors'
import type { Visit, WalkClaim } from '../../run-store/names'
import type { PartEnd, StepOutput } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
import { AttemptLog } from '../flow/attempt-log'
import { TakenOver } from '../flow/failure'
import { cancellationOf, isCancelling, stopFailure } from '../flow/stopping'
import { mark } from '../notice/heard'
import type { NextStep } from '../plan/next-step'
import { configOf, holdWalk, receiptOf } from '../plan/state'
import { attemptLimit, triesOf } from '../plan/tries'
import type { StartedAttempt } from '../plan/types'
import { countAttempts, takeAnswers } from '../write/marks'
import { work } from './attempt'
import { countWork } from './count-work'
import { endPart } from './part'
import { fail, recordFailure, recordOutput, settle } from './record'
import { traceWork } from './trace-work'

/**
 * One visit of an effect step, in three parts: claim (guard, count the attempt, freeze the input), work (outside any
 * transaction), record (output, data, receipt and what comes next, in one statement). A visit that is already recorded
 * returns its stored receipt. The claimer of the last attempt owns the step: earlier ones record nothing.
 * @throws AttemptFailed when another attempt is due, or was begun by another process
 */
export async function visitStep(ctx: ServiceContext, ref: WalkClaim, at: Visit, handoff: NextStep): Promise<Receipt> {
  const begun = handoff.take(at) ?? (await claim(ctx, ref, at))
  if ('receipt' in begun) return begun.receipt
  if ('lost' in begun) return recordFailure(ctx, begun.lost, new StepFailure('WORKER_LOST', begun.message), handoff)
  let output: StepOutput | PartEnd
  try {
    output = await countWork(begun, () => traceWork(begun, () => work(ctx, begun, () => handoff.stopping)))
  } catch (err) {
    if (err instanceof TakenOver) return settle(ctx, begun, () => Promise.reject(err))
    return recordFailure(ctx, begun, err, handoff)
  }
  return 'part' in output ? endPart(ctx, begun, output, handoff) : recordOutput(ctx, begun, output, handoff)
}

type Claimed = StartedAttempt | { receipt: Receipt } | { lost: StartedAttempt; message: string }

async function claim(ctx: ServiceContext, ref: WalkClaim, at: Visit): Promise<Claimed> {
  return withTransaction<Claimed>(ctx, async (tx) => {
    const { held, found: locked } = await holdWalk(tx, ref, at)
    if ('stop' in locked) return { receipt: locked.stop }
    const { state, record } = locked
    if (!record)
      throw new ImpossibleState('visit-without-record', `${ref.runId} has no record of ${at.stepId}#${at.visit}`)
    if (record.endTime) return { receipt: receiptOf(record) }
    const type = findStepType(record.stepType)
    if (type?.mode !== 'effect') throw new ImpossibleState('visit-of-no-effect', `${record.stepType} does no work`)
    // Before a cancel is noticed: nothing waits for them any more.
    if (record.attempts.some(({ part }) => part === 'asks')) await takeAnswers(held, { state, at })
    const now = tx.now()
    const begun: StartedAttempt = {
      state,
      at,
      type,
      config: configOf(record),
      attempt: record.attempt + 1,
      attempts: record.attempts,
      log: new AttemptLog(),
      startedAt: now,
      since: mark(),
    }
    if (isCancelling(state)) {
      // The process died while the step ran; a stopping run starts no new attempt.
      return {
        receipt: await fail(held, { ...begun, attempt: record.attempt }, stopFailure(cancellationOf(state.run))),
      }
    }
    const limit = attemptLimit(begun)
    if ((await triesOf(tx, begun)) > limit) {
      // Attempts are counted when claimed, so none of the earlier ones finished.
      const message = `The step did not finish in ${limit} attempts: the process stopped each time.`
      return { lost: { ...begun, attempt: record.attempt }, message }
    }
    await countAttempts(held, begun, begun.attempt)
    return begun
  })
}
