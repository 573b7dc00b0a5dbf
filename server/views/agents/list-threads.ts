import { and, desc, eq, lt, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { messages, threads } from '@/db/schema/threads'
import { AGENT } from '../../agents/noun'
import { ownThreads } from '../../agents/thread'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { findRow } from '../../versioned/rows'
import { nameActors } from '../actors'

const MAX_TITLE = 120

const ListThreads = z.object({
  agentId: z.string(),
  limit: z.number().int().min(1).max(100).default(30),
  /** The last thread of the previous page. */
  cursor: z.object({ id: z.string().max(80), updatedAt: z.iso.datetime() }).nullish(),
})
export type ListThreads = z.input<typeof ListThreads>

/**
 * The conversations with an agent that the caller may read, most recent first, each with its first message.
 * @throws AppError AGENT_NOT_FOUND, INVALID_INPUT
 */
export async function listThreads(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'agent:read')
  const { agentId, limit, cursor } = parseInput(ListThreads, input)
  const agent = await findRow(ctx, AGENT, agentId)
  const at = cursor ? new Date(cursor.updatedAt) : null
  const rows = await ctx.db
    .select({
      id: threads.id,
      subject: threads.subject,
      createdAt: threads.createdAt,
      updatedAt: threads.updatedAt,
      title: sql<string | null>`(
        select left(${messages.content}->>'message', ${MAX_TITLE}) from ${messages}
        where ${messages.tenantId} = ${threads.tenantId} and ${messages.threadId} = ${threads.id} and ${messages.role} = 'user'
        order by ${messages.seq} limit 1)`,
    })
    .from(threads)
    .where(
      and(
        eq(threads.tenantId, ctx.tenantId),
        eq(threads.agentId, agent.id),
        ownThreads(ctx),
        cursor && at
          ? or(lt(threads.updatedAt, at), and(eq(threads.updatedAt, at), lt(threads.id, cursor.id)))
          : undefined,
      ),
    )
    .orderBy(desc(threads.updatedAt), desc(threads.id))
    .limit(limit + 1)
  const nameOf = await nameActors(
    ctx,
    rows.map((row) => row.subject),
  )
  const items = rows.slice(0, limit).map(({ createdAt, updatedAt, ...thread }) => ({
    ...thread,
    /** The name of the person the agent talks with; null for the workspace itself. */
    partner: nameOf(thread.subject)?.name ?? null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }))
  return { items, more: rows.length > limit }
}
