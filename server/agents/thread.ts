import { and, eq, isNotNull } from 'drizzle-orm'
import { messages, threads } from '@/db/schema/threads'
import { seesHidden } from '../auth/policy'
import { actsForTenant, isRunOfTenant, mayReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId, newId } from '../ids'

/**
 * The owner of the threads a caller creates: a token's subject owns its own; threads of the tenant's people and keys
 * have no owner.
 */
export function subjectOf(ctx: ServiceContext): string | null {
  return actsForTenant(ctx) ? null : ctx.actor.id
}

function mayContinue(ctx: ServiceContext, subject: string | null): boolean {
  return actsForTenant(ctx) || subject === ctx.actor.id || (subject === null && isRunOfTenant(ctx))
}

/**
 * A thread of this agent that the caller may continue.
 * @throws AppError THREAD_NOT_FOUND if it is unknown or belongs to another agent, subject or tenant
 */
export async function findThread(ctx: ServiceContext, agentId: string, threadId: string) {
  const { id, subject, createdAt, updatedAt } = threads
  const [row] =
    isId(threadId) && isId(agentId)
      ? await ctx.db
          .select({ id, agentId: threads.agentId, subject, createdAt, updatedAt })
          .from(threads)
          .where(and(eq(threads.tenantId, ctx.tenantId), eq(id, threadId), eq(threads.agentId, agentId)))
      : []
  if (!row || !mayContinue(ctx, row.subject) || !mayReach(ctx, 'agent', agentId)) throw new AppError('THREAD_NOT_FOUND')
  return row
}

/** The thread's id; throws like `findThread`. */
export async function requireThread(ctx: ServiceContext, agentId: string, threadId: string): Promise<string> {
  return (await findThread(ctx, agentId, threadId)).id
}

/**
 * The same, before a message to it. An agent's answer is not masked while it streams, so a person who sees the thread
 * masked cannot continue it.
 * @throws AppError FORBIDDEN, and as `findThread`
 */
export async function requireOpenThread(ctx: ServiceContext, agentId: string, threadId: string): Promise<string> {
  const id = await requireThread(ctx, agentId, threadId)
  if (!seesHidden(ctx)) return id
  const { tenantId, threadId: of, runId } = messages
  const [fromRun] = await ctx.db
    .select({ runId })
    .from(messages)
    .where(and(eq(tenantId, ctx.tenantId), eq(of, id), isNotNull(runId)))
    .limit(1)
  if (!fromRun) return id
  const message = 'A run with sensitive fields spoke in this thread, so it cannot be continued here. Begin a new one.'
  throw new AppError('FORBIDDEN', { details: [{ path: 'threadId', message }] })
}

/**
 * @param id may be that of an existing thread, which then stays as it is
 * @param subject whose it is; the caller's by default
 * @returns the thread's id
 */
export async function createThread(
  ctx: ServiceContext,
  agentId: string,
  id = newId('thr'),
  subject = subjectOf(ctx),
): Promise<string> {
  const now = ctx.now()
  await ctx.db
    .insert(threads)
    .values({ tenantId: ctx.tenantId, id, agentId, subject, createdAt: now, updatedAt: now })
    .onConflictDoNothing()
  return id
}

/** Removes a thread that has no messages. */
export async function dropThread(ctx: ServiceContext, threadId: string): Promise<void> {
  await ctx.db.delete(threads).where(and(eq(threads.tenantId, ctx.tenantId), eq(threads.id, threadId)))
}
