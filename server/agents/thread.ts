import { and, eq, type SQL } from 'drizzle-orm'
import { threads } from '@/db/schema/threads'
import { mayReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId, newId } from '../ids'

/** Whose threads a caller makes: a token's are its subject's, those of the tenant's own people and keys are nobody's. */
function subjectOf(ctx: ServiceContext): string | null {
  return standsForTenant(ctx) ? null : ctx.actor.id
}

/** An API key or a signed-in member acts for the whole tenant; everybody else sees only threads of their own. */
function mayContinue(ctx: ServiceContext, subject: string | null): boolean {
  const { actor } = ctx
  if (standsForTenant(ctx) || subject === actor.id) return true
  // A run that one of them started goes on with what they began.
  return actor.kind === 'system' && subject === null && /^(key|usr)_/.test(actor.id)
}

function standsForTenant({ actor }: ServiceContext): boolean {
  return actor.kind === 'apiKey' || actor.kind === 'user'
}

/** Narrows a list of threads to those that the caller may continue; nothing where it may continue all. */
export function ownThreads(ctx: ServiceContext): SQL | undefined {
  return standsForTenant(ctx) ? undefined : eq(threads.subject, ctx.actor.id)
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
  if (!row || !mayContinue(ctx, row.subject) || !mayReach(ctx, 'agent', agentId)) throw new AppError('THREAD_NOT_FOUND')
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
