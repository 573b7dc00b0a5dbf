import { and, asc, desc, eq, lt, lte, or, sql } from 'drizzle-orm'
import { messages } from '@/db/schema/threads'
import type { ServiceContext } from '../context'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../definition/json'
import type { Masker } from '../vault/mask'

/** How much a page may have, beyond its newest turn. */
const MOST_BYTES = 4 * 1024 * 1024
/** A message, at most ten rounds of tool calls with their results, and the answer. */
const MESSAGES_PER_TURN = 22
/** For turns of earlier versions, which had more of them. */
const SPARE_MESSAGES = 100

export interface ToolCall {
  toolCallId: string
  /** The tool's id, or `handoff_` plus the agent's id. */
  toolId: string
  args: JsonValue
  /** Null for a call without a result. */
  result: { success: boolean; value: JsonValue } | null
}

/** A message to the agent, and everything said and done in answer. */
export interface Turn {
  /** The place of its first message in the thread. */
  seq: number
  createdAt: string
  message: string
  dataContext: JsonObject
  toolCalls: ToolCall[]
  answer: string
  /** Provider, model, version, usage. */
  metadata: JsonObject | null
}

export type MessageRow = Pick<typeof messages.$inferSelect, 'seq' | 'role' | 'content' | 'metadata' | 'createdAt'>

/**
 * The newest turns of a thread before one of its messages, oldest first: as many as are asked for, fewer if they are large,
 * and always one if there is one.
 */
export async function readTurns(
  ctx: ServiceContext,
  threadId: string,
  { before, limit }: { before: number | null; limit: number },
  masker: Masker,
): Promise<Turn[]> {
  const latest = ctx.db
    .select()
    .from(messages)
    .where(
      and(
        eq(messages.tenantId, ctx.tenantId),
        eq(messages.threadId, threadId),
        before === null ? undefined : lt(messages.seq, before),
      ),
    )
    .orderBy(desc(messages.seq))
    .limit(limit * MESSAGES_PER_TURN + SPARE_MESSAGES)
    .as('latest')
  // Measured in the database: what does not fit need not be transferred.
  const measured = ctx.db
    .select({
      seq: latest.seq,
      role: latest.role,
      content: latest.content,
      metadata: latest.metadata,
      createdAt: latest.createdAt,
      later: sql<number>`count(*) filter (where ${latest.role} = 'user') over (
        order by ${latest.seq} desc rows between unbounded preceding and 1 preceding)`.as('later'),
      size: sql<number>`sum(octet_length(${latest.content}::text)) over (order by ${latest.seq} desc)`.as('size'),
    })
    .from(latest)
    .as('measured')
  const rows: MessageRow[] = await ctx.db
    .select({
      seq: measured.seq,
      role: measured.role,
      content: measured.content,
      metadata: measured.metadata,
      createdAt: measured.createdAt,
    })
    .from(measured)
    .where(and(lt(measured.later, limit), or(eq(measured.later, 0), lte(measured.size, MOST_BYTES))))
    .orderBy(asc(measured.seq))
  return turnsOf(rows, masker)
}

/** The turns that messages in order make up. Masked before anything is cut: half a secret would not be recognised. */
export function turnsOf(rows: readonly MessageRow[], masker: Masker): Turn[] {
  // Messages before the first one of a user belong to a turn that is not here as a whole.
  const first = rows.findIndex(({ role }) => role === 'user')
  const turns: Turn[] = []
  for (const row of first === -1 ? [] : rows.slice(first)) {
    const masked = { ...row, content: masker.json(row.content), metadata: masker.json(row.metadata) }
    if (row.role === 'user') turns.push(begin(masked))
    else follow(turns.at(-1), masked)
  }
  return turns
}

function begin({ seq, createdAt, content }: MessageRow): Turn {
  const { message, dataContext } =
    typeof content === 'string' || Array.isArray(content) ? { message: '', dataContext: {} } : content
  return { seq, createdAt: createdAt.toISOString(), message, dataContext, toolCalls: [], answer: '', metadata: null }
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

function resultOf(output: JsonValue): ToolCall['result'] {
  const { type, value } = isJsonObject(output) ? output : { type: 'json', value: output }
  return { success: !String(type).startsWith('error'), value: value ?? null }
}
