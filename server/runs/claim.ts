import { and, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { pauses } from '@/db/schema/runs'
import { taskClaims } from '@/db/schema/tasks'
import { authorize, may } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { pauseIs } from '../run-store/conditions'
import { holdRun } from '../run-store/held'
import { claimIs, claimStands } from './claim-row'
import { isVote, requireMayAnswer } from './may-answer'
import { personOfMember } from './person'
import { signalOf } from './present'
import { TaskAt } from './task-at'
import { requireNoVote } from './vote'

const Member = z.string().max(100).nullable()

export const ClaimTask = TaskAt.extend({
  /** The member who takes care of it from now on; null for nobody. */
  to: Member,
  /** The current claimer, as the caller knows it. */
  from: Member,
})
export type ClaimTask = z.input<typeof ClaimTask>

/**
 * Sets the member who takes care of an open task: the caller claims it, releases it, or assigns it to another member. A
 * claim prevents nobody from answering, so everyone who may answer tasks may change it; but only a member who may
 * answer this one can have it.
 * @throws AppError RUN_NOT_FOUND, RUN_NOT_PAUSED, NOT_ASSIGNED, SELF_APPROVAL, ALREADY_VOTED, INVALID_INPUT; CONFLICT
 * if someone changed it in the meantime
 */
export async function claimTask(ctx: ServiceContext, input: unknown): Promise<{ claimedBy: string | null }> {
  authorize(ctx, 'task:answer')
  const { runId, pauseId, to, from } = parseInput(ClaimTask, input)
  return withTransaction(ctx, async (tx) => {
    const { run } = await holdRun(tx, runId)
    const ref = { tenantId: tx.tenantId, runId }
    const [pause] = await tx.db
      .select()
      .from(pauses)
      .where(and(pauseIs(ref, pauseId), isNull(pauses.answeredAt)))
    if (!pause?.signal || run.endTime) throw new AppError('RUN_NOT_PAUSED', { message: 'The task is not open' })
    await requireUnchanged(tx, { runId, pauseId }, from)
    const key = { ...ref, pauseId }
    if (to === null) {
      await tx.db.delete(taskClaims).where(claimIs(key))
      return { claimedBy: null }
    }
    const person = await personOfMember(tx, to)
    if (!person?.role || !may(person.role, 'task:answer')) {
      const message = 'This person may not answer tasks.'
      throw new AppError('INVALID_INPUT', { details: [{ path: 'to', message }] })
    }
    const signal = signalOf(pause)
    await requireMayAnswer(tx, runId, signal, person)
    if (isVote(signal)) await requireNoVote(tx, { runId, pauseId }, person)
    const claim = { person: person.id, claimedBy: tx.actor.id, claimedAt: tx.now() }
    await tx.db
      .insert(taskClaims)
      .values({ ...key, ...claim })
      .onConflictDoUpdate({ target: [taskClaims.tenantId, taskClaims.runId, taskClaims.pauseId], set: claim })
    return { claimedBy: person.id }
  })
}

/** @throws AppError CONFLICT */
async function requireUnchanged(
  tx: TransactionContext,
  at: { runId: string; pauseId: string },
  from: string | null,
): Promise<void> {
  const [claim] = await tx.db
    .select({ person: taskClaims.person })
    .from(taskClaims)
    .where(and(claimIs({ tenantId: tx.tenantId, ...at }), claimStands(taskClaims)))
  const now = claim?.person ?? null
  if (now === from) return
  const name = now === null ? null : ((await personOfMember(tx, now))?.name ?? 'Another member')
  const message = name === null ? 'It was released in the meantime.' : `${name} has it now.`
  throw new AppError('CONFLICT', { message: 'The task was claimed or released meanwhile', details: [{ message }] })
}
