import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { pauses, runs } from '@/db/schema/runs'
import { heldAnswers } from '@/db/schema/tasks'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { pauseIs } from '../../run-store/conditions'
import { requireRun } from '../../run-store/find-run'
import { TaskAt } from '../task-at'
import { heldIs } from './row'

/**
 * Takes back a held answer of the caller: the row is deleted, so nothing can give the answer any more.
 * @returns the answer, for the form, and whether the task can still be answered; null if nothing was held
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT
 */
export async function undoAnswer(ctx: ServiceContext, input: unknown) {
  const key = await heldKey(ctx, input)
  const [undone] = await ctx.db
    .delete(heldAnswers)
    .where(and(heldIs(key), isNull(heldAnswers.refused)))
    .returning({ answer: heldAnswers.answer })
  if (!undone) return null
  const open = await ctx.db
    .select({ id: pauses.id })
    .from(pauses)
    .innerJoin(runs, and(eq(runs.tenantId, pauses.tenantId), eq(runs.id, pauses.runId), isNull(runs.endTime)))
    .where(and(pauseIs(key, key.pauseId), isNull(pauses.answeredAt)))
  return { answer: undone.answer, open: open.length > 0 }
}

/**
 * Deletes a refused answer of the caller, once they have read the reason. Never a held one.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT
 */
export async function dismissRefusal(ctx: ServiceContext, input: unknown): Promise<{ pauseId: string }> {
  const key = await heldKey(ctx, input)
  await ctx.db.delete(heldAnswers).where(and(heldIs(key), isNotNull(heldAnswers.refused)))
  return { pauseId: key.pauseId }
}

async function heldKey(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'task:answer')
  const { runId, pauseId } = parseInput(TaskAt, input)
  await requireRun(ctx, runId)
  return { tenantId: ctx.tenantId, runId, pauseId, person: ctx.actor.id }
}
