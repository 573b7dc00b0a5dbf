import { z } from 'zod'
import { heldAnswers } from '@/db/schema/tasks'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { requireRun } from '../../interpreter/find-run'
import { parseInput } from '../../parse'
import { heldIs } from './row'

export const UndoAnswer = z.object({ runId: z.string().max(100), pauseId: z.string().max(300) })
export type UndoAnswer = z.input<typeof UndoAnswer>

/**
 * Takes back an answer of the caller that is still held: the row goes, so nothing can give it any more. Also forgets one
 * that was refused, once its person has read why.
 * @returns what the answer was, for the form; null if it was too late
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT
 */
export async function undoAnswer(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'task:answer')
  const { runId, pauseId } = parseInput(UndoAnswer, input)
  await requireRun(ctx, runId)
  const [held] = await ctx.db
    .delete(heldAnswers)
    .where(heldIs({ tenantId: ctx.tenantId, runId, pauseId, person: ctx.actor.id }))
    .returning({ answer: heldAnswers.answer })
  return { answer: held?.answer ?? null }
}
