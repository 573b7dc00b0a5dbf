import { and, eq, isNull } from 'drizzle-orm'
import { users } from '@/db/schema/members'
import { heldAnswers } from '@/db/schema/tasks'
import { authorize } from '../../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../../context'
import type { GivenAnswer } from '../../definition/run'
import { env } from '../../env'
import { AppError } from '../../errors'
import { claimFiles } from '../../files/stage'
import type { OpenPause } from '../../interpreter/index'
import { emit } from '../../outbox'
import { parseInput } from '../../parse'
import { holdRun } from '../../run-store/held'
import { requireRoomForComment } from '../comment'
import { decisionParts } from '../decision-parts'
import { isVote } from '../may-answer'
import { personOf } from '../person'
import { readPaused, remarkOf, resumeRun } from '../resume'
import { ResumeRun } from '../schema'
import { requireNoVote } from '../vote'

/** A pause that expires sooner than this after the hold takes the answer immediately: it arrived in time. */
const MARGIN_MS = 5_000

/**
 * Answers an open pause for a person at the dashboard, who can undo it for ten seconds. Until then the run does not
 * have the answer, and any other change of the run in the meantime takes precedence: another answer over REST, a
 * cancel, a terminate. An answer to a test run counts immediately. The person's remark becomes a comment when the run
 * gets the answer.
 * @returns for how long it can be undone, in milliseconds; null if it counts already
 * @throws AppError as `resumeRun`; RUN_NOT_PAUSED also if another person's answer is held
 */
export async function holdAnswer(ctx: ServiceContext, input: { runId: string; body: unknown }) {
  authorize(ctx, 'task:answer')
  const { runId } = input
  const answer = parseInput(ResumeRun, input.body)
  const held = ctx.actor.kind === 'user' && (await withTransaction(ctx, (tx) => hold(tx, runId, answer)))
  if (held) return { undoMs: env().ANSWER_UNDO_MS }
  await resumeRun(ctx, input)
  return { undoMs: null }
}

async function hold(tx: TransactionContext, runId: string, answer: ResumeRun): Promise<boolean> {
  await holdRun(tx, runId)
  const { run, chosen, signal, person, uploads } = await readPaused(tx, runId, answer)
  await claimFiles(tx, uploads, run.id)
  const { pause } = chosen
  const me = person ?? (await personOf(tx))
  if (isVote(signal)) await requireNoVote(tx, { runId, pauseId: pause.id }, me)
  await requireNoneHeld(tx, { runId, pauseId: pause.id }, isVote(signal))
  // Checked while its person can still shorten or omit it.
  if (remarkOf(answer) !== undefined) await requireRoomForComment(tx, run.id)
  const heldAt = tx.now()
  const until = new Date(heldAt.getTime() + env().ANSWER_UNDO_MS)
  if (env().ANSWER_UNDO_MS === 0 || run.startedVia === 'test' || endsBy(chosen, until)) return false
  const key = { tenantId: tx.tenantId, runId, pauseId: pause.id, person: tx.actor.id }
  const row = {
    answer: givenTo(pause.id, answer),
    heldAt,
    until,
    refused: null,
  }
  await tx.db
    .insert(heldAnswers)
    .values({ ...key, ...row })
    // Only a refused answer: the pause is open again after another person's answer was refused.
    .onConflictDoUpdate({
      target: [heldAnswers.tenantId, heldAnswers.runId, heldAnswers.pauseId, heldAnswers.person],
      set: row,
    })
  await emit(tx, 'workflow/answer.held', { ...key, until: until.toISOString() })
  return true
}

/**
 * The second of two deciding answers would only be refused later. Votes do not exclude each other.
 * @throws AppError RUN_NOT_PAUSED
 */
async function requireNoneHeld(
  tx: TransactionContext,
  { runId, pauseId }: { runId: string; pauseId: string },
  votes: boolean,
): Promise<void> {
  const [held] = await tx.db
    .select({ person: heldAnswers.person, name: users.name })
    .from(heldAnswers)
    .leftJoin(users, eq(users.id, heldAnswers.person))
    .where(
      and(
        eq(heldAnswers.tenantId, tx.tenantId),
        eq(heldAnswers.runId, runId),
        eq(heldAnswers.pauseId, pauseId),
        isNull(heldAnswers.refused),
        votes ? eq(heldAnswers.person, tx.actor.id) : undefined,
      ),
    )
  if (!held) return
  const who = held.person === tx.actor.id ? 'You have' : `${held.name ?? 'Another person'} has`
  throw new AppError('RUN_NOT_PAUSED', {
    message: `${who} just answered this task`,
    details: [{ message: 'That answer can still be undone for a few seconds.' }],
  })
}

function endsBy({ run, pause }: OpenPause, until: Date): boolean {
  const limit = until.getTime() + MARGIN_MS
  return [pause.dueAt, run.timeoutAt].some((at) => at !== null && at.getTime() < limit)
}

function givenTo(pauseId: string, answer: ResumeRun): GivenAnswer {
  if (answer.type === 'collect_inputs') return { type: answer.type, pauseId, data: answer.data }
  const { type, actionId, actionValue } = answer
  return { type, pauseId, actionId, actionValue, ...decisionParts(answer) }
}
