import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { messages, threads } from '@/db/schema/threads'
import { wholeChars } from '@/lib/whole-chars'
import { authorize, seesHidden } from '../auth/policy'
import { ownThreads } from '../auth/reach'
import type { ServiceContext } from '../context'
import { isId } from '../ids'
import { parseInput } from '../parse'
import { NOT_OF_THIS_LIST, readCursor, writeCursor } from '../query/cursor'
import { STORABLE } from '../query/storable-text'
import { wholeNumber } from '../query/values'
import { MASK, type Masker } from '../vault/mask'
import { tenantMasker } from '../vault/masker'
import { findRow } from '../versioned/rows'
import { AGENT } from './noun'
import { maskerOfRuns } from './thread-masker'

const DEFAULT_LIMIT = 30
const MAX_LIMIT = 100
const MAX_TITLE = 120
/** The maximum length of a sensitive field's value to recognise in the start of a message. */
const LONGEST_HIDDEN = 4_000

/** The query string of the list. */
export const ListThreads = z.object({
  subject: z
    .string()
    .min(1)
    .max(256)
    .refine(...STORABLE)
    .optional()
    .describe('Only those of tokens with this `sub`.'),
  limit: wholeNumber(1, MAX_LIMIT).optional().describe('The default is 30.'),
  cursor: z.string().max(400).optional().describe('The `nextCursor` of the previous page.'),
})

const Position = z.tuple([z.iso.datetime().startsWith('2'), z.string().refine(isId)])

/**
 * The conversations with an agent that the caller may read, most recent first, each with its first message.
 * @throws AppError AGENT_NOT_FOUND, INVALID_INPUT
 */
export async function listThreads(ctx: ServiceContext, agentId: string, query: unknown) {
  authorize(ctx, 'agent:read')
  const { subject, limit = DEFAULT_LIMIT, cursor } = parseInput(ListThreads, query)
  const after = cursor === undefined ? null : readCursor(Position, cursor, NOT_OF_THIS_LIST)
  const [agent, vault] = await Promise.all([findRow(ctx, AGENT, agentId), tenantMasker(ctx)])
  const hides = seesHidden(ctx)
  const rows = await ctx.db
    .select({
      id: threads.id,
      agentId: threads.agentId,
      subject: threads.subject,
      createdAt: threads.createdAt,
      updatedAt: threads.updatedAt,
      title: firstMessage(
        sql`left(${messages.content}->>'message', ${MAX_TITLE + vault.longest + (hides ? LONGEST_HIDDEN : 0)}::integer)`,
      ),
      runId: hides ? firstMessage(sql`${messages.runId}`) : sql<null>`null`,
    })
    .from(threads)
    .where(
      and(
        eq(threads.tenantId, ctx.tenantId),
        eq(threads.agentId, agent.id),
        ownThreads(ctx),
        subject === undefined ? undefined : eq(threads.subject, subject),
        after ? sql`(${threads.updatedAt}, ${threads.id}) < (${after[0]}::timestamptz, ${after[1]})` : undefined,
      ),
    )
    .orderBy(desc(threads.updatedAt), desc(threads.id))
    .limit(limit + 1)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const maskers = new Map<string, Masker>()
  for (const { runId } of page)
    if (runId !== null && !maskers.has(runId)) maskers.set(runId, await maskerOfRuns(ctx, [runId], vault))
  const titleOf = (title: string, runId: string | null) => {
    const masker = maskers.get(runId ?? '') ?? vault
    return masker.longest > vault.longest + LONGEST_HIDDEN ? MASK : wholeChars(masker.text(title), MAX_TITLE)
  }
  return {
    threads: page.map(({ title, runId, createdAt, updatedAt, ...thread }) => ({
      ...thread,
      title: title === null ? null : titleOf(title, runId),
      createdAt: createdAt.toISOString(),
      updatedAt: updatedAt.toISOString(),
    })),
    nextCursor: rows.length > limit && last ? writeCursor([last.updatedAt, last.id]) : null,
  }
}

/** A part of the first message of a thread; null while its first turn is in progress. */
function firstMessage(what: SQL): SQL<string | null> {
  return sql<string | null>`(
    select ${what} from ${messages}
    where ${messages.tenantId} = ${threads.tenantId} and ${messages.threadId} = ${threads.id} and ${messages.role} = 'user'
    order by ${messages.seq} limit 1)`
}
