import { and, asc, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import { messages } from '@/db/schema/threads'
import type { ServiceContext } from '../context'
import type { MessageFile, UserMessage } from '../definition/agent'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../definition/json'
import { giveWay } from '../give-way'
import type { RunMasker } from '../vault/hide'
import { threadMasker } from './thread-masker'

/** The maximum size of a page, beyond its newest turn. */
const MAX_BYTES = 4 * 1024 * 1024
/** Greater than any position in a thread. */
const MAX_SEQ = 2 ** 31

export interface ToolCall {
  toolCallId: string
  /** The tool's id, or `handoff_` plus the agent's id. */
  toolId: string
  args: JsonValue
  /** Null for a call without a result. */
  result: { success: boolean; value: JsonValue } | null
}

/** A message to the agent, and every reply and tool call it led to. */
export interface Turn {
  /** The position of its first message in the thread. */
  seq: number
  createdAt: string
  message: string
  dataContext: JsonObject
  /** The files that went to the model with it; absent without any. */
  files?: MessageFile[]
  toolCalls: ToolCall[]
  answer: string
  /** Provider, model, version, usage. */
  metadata: JsonObject | null
}

export type MessageRow = Pick<typeof messages.$inferSelect, 'seq' | 'role' | 'content' | 'metadata' | 'createdAt'>

/**
 * The newest turns of a thread before one of its messages, oldest first: up to `limit`, fewer if they are large, but at
 * least one if any exists.
 */
export async function readTurns(
  ctx: ServiceContext,
  threadId: string,
  { before, limit }: { before: number | null; limit: number },
): Promise<Turn[]> {
  const rows: MessageRow[] = await ctx.db
    .select({
      seq: messages.seq,
      role: messages.role,
      content: messages.content,
      metadata: messages.metadata,
      createdAt: messages.createdAt,
    })
    .from(messages)
    .where(
      and(
        eq(messages.tenantId, ctx.tenantId),
        eq(messages.threadId, threadId),
        before === null ? undefined : lt(messages.seq, before),
        gte(messages.seq, oldestThatFits(ctx, threadId, before, limit)),
      ),
    )
    .orderBy(asc(messages.seq))
  return turnsOf(ctx, rows, await threadMasker(ctx, threadId, rows))
}

/**
 * The position of the oldest message that fits into a page. Walks from the newest one and stops when the page is full:
 * measuring a message makes the database read it whole, and a thread may have gigabytes.
 */
function oldestThatFits(ctx: ServiceContext, threadId: string, before: number | null, limit: number): SQL {
  const older = (than: SQL) => sql`lateral (
    select m.seq, (m.role = 'user')::int as begins, octet_length(m.content::text)::bigint as size from ${messages} m
    where m.tenant_id = ${ctx.tenantId} and m.thread_id = ${threadId} and m.seq < ${than}
    order by m.seq desc limit 1) next`
  // `later` counts the turns that begin after a message: the newest turn is returned whole, however large it is.
  return sql`(
    with recursive page as (
      select next.seq, 0 as later, next.begins as turns, next.size
      from ${older(sql`${before ?? MAX_SEQ}::bigint`)}
      union all
      select next.seq, page.turns, page.turns + next.begins, page.size + next.size
      from page, ${older(sql`page.seq`)}
      where page.turns < ${limit} and (page.turns = 0 or page.size <= ${MAX_BYTES}))
    select min(seq) from page where later = 0 or size <= ${MAX_BYTES})`
}

/** Groups messages in order into turns. Masks before cutting: half a secret would not be recognised. */
export async function turnsOf(
  { tenantId }: ServiceContext,
  rows: readonly MessageRow[],
  masker: RunMasker,
): Promise<Turn[]> {
  // Messages before the first user message belong to a turn that is not complete here.
  const first = rows.findIndex(({ role }) => role === 'user')
  const turns: Turn[] = []
  for (const row of first === -1 ? [] : rows.slice(first)) {
    if (row.role === 'user') turns.push(begin(row))
    else follow(turns.at(-1), row)
  }
  const shown: Turn[] = []
  for (const turn of turns) {
    await giveWay(tenantId)
    shown.push(masked(turn, masker))
  }
  return shown
}

function masked({ message, dataContext, files, toolCalls, answer, metadata, ...turn }: Turn, masker: RunMasker): Turn {
  const { text, json, vault } = masker
  return {
    ...{ ...turn, message: text(message), dataContext: json(dataContext), answer: text(answer) },
    ...(files === undefined ? {} : { files: json(files) }),
    toolCalls: toolCalls.map(({ args, result, ...call }) => ({
      ...{ ...vault.json(call), args: json(args) },
      result: result && { ...result, value: json(result.value) },
    })),
    metadata: vault.json(metadata),
  }
}

function begin({ seq, createdAt, content }: MessageRow): Turn {
  const asked: UserMessage =
    typeof content === 'string' || Array.isArray(content) ? { message: '', dataContext: {} } : content
  return { seq, createdAt: createdAt.toISOString(), ...asked, toolCalls: [], answer: '', metadata: null }
}

function follow(turn: Turn | undefined, { content, metadata }: MessageRow): void {
  if (!turn) return
  if (isJsonObject(metadata)) turn.metadata = metadata
  if (typeof content === 'string') turn.answer = content
  for (const part of Array.isArray(content) ? content : []) {
    if (!isJsonObject(part)) continue
    const toolCallId = String(own(part, 'toolCallId') ?? '')
    if (part.type === 'text') turn.answer = String(part.text ?? '')
    else if (part.type === 'tool-call') {
      const toolId = String(part.toolName ?? '')
      turn.toolCalls.push({ toolCallId, toolId, args: part.input ?? {}, result: null })
    } else if (part.type === 'tool-result') {
      const call = turn.toolCalls.findLast((one) => one.toolCallId === toolCallId)
      if (call) call.result = resultOf(part.output ?? null)
    }
  }
}

/** A result as the model got it. */
export function resultOf(output: JsonValue): NonNullable<ToolCall['result']> {
  const { type, value } = isJsonObject(output) ? output : { type: 'json', value: output }
  return { success: !String(type).startsWith('error'), value: value ?? null }
}
