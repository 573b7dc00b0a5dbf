import { and, count, eq } from 'drizzle-orm'
import { z } from 'zod'
import { runComments } from '@/db/schema/tasks'
import { authorize, may } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { newId } from '../ids'
import { parseInput } from '../parse'
import { requireRun } from '../run-store/find-run'
import { hold } from '../run-store/held'
import { CommentText } from './schema'

const MAX_OF_A_RUN = 200

export const AddComment = z.object({ runId: z.string().max(100), text: CommentText.min(1) })
export type AddComment = z.input<typeof AddComment>

/**
 * Adds a comment to a run, whether it is open or has ended. It is deleted with the run.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT; CONFLICT if the run has the maximum number of comments
 */
export async function addComment(ctx: ServiceContext, input: unknown): Promise<{ id: string }> {
  authorize(ctx, 'task:answer')
  const { runId, text } = parseInput(AddComment, input)
  await requireRun(ctx, runId)
  return withTransaction(ctx, async (tx) => {
    await hold(tx, { tenantId: tx.tenantId, runId })
    await requireRoomForComment(tx, runId)
    return write(tx, { runId, text })
  })
}

/**
 * Adds a person's remark, in the transaction that gives their answer. Room for it is guaranteed: a held answer must not
 * fail because of others' comments.
 */
export async function addRemark(
  tx: TransactionContext,
  remark: { runId: string; pauseId: string; text: string; author: string; at?: Date | undefined },
): Promise<void> {
  await write(tx, remark)
}

/** @throws AppError CONFLICT if the run has the maximum number of comments */
export async function requireRoomForComment(tx: TransactionContext, runId: string): Promise<void> {
  const [found] = await tx.db
    .select({ comments: count() })
    .from(runComments)
    .where(and(eq(runComments.tenantId, tx.tenantId), eq(runComments.runId, runId)))
  if ((found?.comments ?? 0) >= MAX_OF_A_RUN)
    throw new AppError('CONFLICT', { message: `A run has at most ${MAX_OF_A_RUN} comments` })
}

async function write(
  tx: TransactionContext,
  {
    at,
    author = tx.actor.id,
    ...comment
  }: { runId: string; text: string; author?: string; pauseId?: string; at?: Date | undefined },
): Promise<{ id: string }> {
  const id = newId('cmt')
  const written = { author, createdAt: at ?? tx.now() }
  await tx.db.insert(runComments).values({ tenantId: tx.tenantId, id, ...comment, ...written })
  return { id }
}

export const DeleteComment = z.object({ runId: z.string().max(100), id: z.string().max(100) })
export type DeleteComment = z.input<typeof DeleteComment>

/**
 * Deletes a comment of the caller; an admin may delete any. A missing comment is no error.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT, FORBIDDEN
 */
export async function deleteComment(ctx: ServiceContext, input: unknown): Promise<{ id: string }> {
  authorize(ctx, 'task:answer')
  const { runId, id } = parseInput(DeleteComment, input)
  await requireRun(ctx, runId)
  const { tenantId, actor } = ctx
  const isComment = and(eq(runComments.tenantId, tenantId), eq(runComments.id, id), eq(runComments.runId, runId))
  const [comment] = await ctx.db.select({ author: runComments.author }).from(runComments).where(isComment)
  if (comment && comment.author !== actor.id && !may(actor.role, 'settings:manage'))
    throw new AppError('FORBIDDEN', { message: 'Only its author or an admin can delete a comment' })
  await ctx.db.delete(runComments).where(isComment)
  return { id }
}
