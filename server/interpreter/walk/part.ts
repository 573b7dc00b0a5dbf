import type { ServiceContext } from '../../context'
import type { StepUsage } from '../../definition/agent'
import type { Receipt } from '../../definition/run'
import { StepFailure } from '../../errors'
import type { Held } from '../../run-store/held'
import { questionIdOf } from '../../run-store/names'
import type { PartEnd, Question } from '../../steps/define-step'
import { cancellationOf, isCancelling, stopFailure } from '../flow/stopping'
import { dueBy } from '../notice/timers'
import type { NextStep } from '../plan/next-step'
import type { StartedAttempt } from '../plan/types'
import { moveWalk, openPause } from '../write/held'
import { keepAttempts, questionsAsked } from '../write/marks'
import { settleStatus } from '../write/settle-status'
import { attemptRow, fail, recordFailure, settle } from './record'

/** A visit with more parts, or more questions, fails. */
const MOST = { parts: 500, questions: 100 }

/**
 * Records the end of a part of a visit, which stays open: the next part continues where this one stopped. A part that
 * asks opens its questions, and the walk rests until one of them is answered.
 */
export async function endPart(
  ctx: ServiceContext,
  begun: StartedAttempt,
  end: PartEnd,
  handoff: NextStep,
): Promise<Receipt> {
  const { part, usage = null } = end
  const parts = begun.attempts.filter((attempt) => attempt.part).length + 1
  const next: Receipt = { next: begun.at, part: parts }
  try {
    return await settle(ctx, begun, async (tx, state) => {
      const held = { ...begun, state }
      if (isCancelling(state)) return fail(tx, held, { ...stopFailure(cancellationOf(state.run)), usage })
      if (parts > MOST.parts) throw tooLong(`${MOST.parts} parts`, usage)
      const receipt = part === 'asks' ? await ask(tx, held, end.questions, next) : next
      if (!receipt) throw tooLong(`${MOST.questions} decisions`, usage)
      const row = { ...attemptRow(begun, tx.now(), null), part, ...(usage ? { usage } : {}) }
      await keepAttempts(tx, begun, [...begun.attempts, row])
      return receipt
    })
  } catch (err) {
    if (err instanceof StepFailure) return recordFailure(ctx, begun, err, handoff)
    throw err
  }
}

function tooLong(most: string, usage: StepUsage | null): StepFailure {
  return new StepFailure('TURN_TOO_LONG', `The agent did not come to an answer in ${most}.`, [], usage)
}

/**
 * Opens the questions that are new. Without an answer that no part has taken, the walk rests.
 * @param next if there is such an answer
 * @returns null if the visit has asked too much
 */
async function ask(tx: Held, begun: StartedAttempt, questions: Question[], next: Receipt): Promise<Receipt | null> {
  const { at } = begun
  const { ref } = begun.state
  const asked = await questionsAsked(tx, begun)
  const pauses = questions.map((question) => ({ ...question, id: questionIdOf(ref.branch, at, question.id) }))
  const added = pauses.filter(({ id }) => !asked.some((one) => one.id === id))
  if (asked.length + added.length > MOST.questions) return null
  for (const { id, signal, expiresAt } of added) {
    await openPause(tx, ref, { ...at, id, signal, ...(expiresAt ? { dueAt: expiresAt } : {}) })
    if (expiresAt) tx.afterCommit(() => dueBy(expiresAt))
  }
  if (asked.some(({ isAnswered }) => isAnswered)) return next
  await settleStatus(tx, ref)
  await moveWalk(tx, ref, { status: 'resting' })
  return { stop: 'resting' }
}
