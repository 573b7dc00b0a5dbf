import { and, eq } from 'drizzle-orm'
import { threads } from '@/db/schema/threads'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId, newId } from '../ids'

/** Whose threads a caller makes: a token's are its subject's, those of an API key are nobody's in particular. */
function subjectOf({ actor }: ServiceContext): string | null {
  return actor.kind === 'apiKey' ? null : actor.id
}

/** An API key stands for the whole tenant; everybody else sees only threads of their own. */
function mayContinue(ctx: ServiceContext, subject: string | null): boolean {
  const { actor } = ctx
  if (actor.kind === 'apiKey' || subject === actor.id) return true
  // A run that an API key started goes on with what that backend began.
  return actor.kind === 'system' && subject === null && actor.id.startsWith('key_')
}

/**
 * A thread of this agent that the caller may continue.
 * @throws AppError THREAD_NOT_FOUND when it is unknown, or another agent's, subject's or tenant's
 */
export async function requireThread(ctx: ServiceContext, agentId: string, threadId: string): Promise<string> {
  const [row] = isId(threadId)
    ? await ctx.db
        .select({ id: threads.id, subject: threads.subject })
        .from(threads)
        .where(and(eq(threads.tenantId, ctx.tenantId), eq(threads.id, threadId), eq(threads.agentId, agentId)))
    : []
  if (!row || !mayContinue(ctx, row.subject)) throw new AppError('THREAD_NOT_FOUND')
  return row.id
}

/** @returns its id */
export async function createThread(ctx: ServiceContext, agentId: string): Promise<string> {
  const id = newId('thr')
  const now = ctx.now()
  await ctx.db
    .insert(threads)
    .values({ tenantId: ctx.tenantId, id, agentId, subject: subjectOf(ctx), createdAt: now, updatedAt: now })
  return id
}

/** Removes a thread in which nothing was said. */
export async function dropThread(ctx: ServiceContext, threadId: string): Promise<void> {
  await ctx.db.delete(threads).where(and(eq(threads.tenantId, ctx.tenantId), eq(threads.id, threadId)))
}
