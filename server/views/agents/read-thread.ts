import { and, desc, eq, lt } from 'drizzle-orm'
import { z } from 'zod'
import { messages } from '@/db/schema/threads'
import { requireThread } from '../../agents/thread'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../definition/json'
import { parseInput } from '../../parse'

const PAGE = 100
/** Results of tools may be large; a conversation is read for its course. */
const MAX_SHOWN = 20_000

const ReadThread = z.object({
  agentId: z.string(),
  threadId: z.string(),
  /** The first message of the page that is shown already. */
  before: z.number().int().min(1).nullish(),
})
export type ReadThread = z.input<typeof ReadThread>

/** A value as JSON text, cut where it is long. */
export interface Shown {
  text: string
  /** Of the whole, in characters; null where nothing was cut. */
  cutFrom: number | null
}

export interface Call {
  id: string
  /** The tool's id, or `handoff_` and an agent's. */
  name: string
  input: Shown
  /** Null for a call that was never answered. */
  result: { ok: boolean; output: Shown } | null
}

/** What a person said, and all that was done and said about it. */
export interface Turn {
  seq: number
  at: string
  message: string
  dataContext: JsonObject
  calls: Call[]
  text: string
  /** Provider, model, version, usage: what the answer's `metadata` said. */
  metadata: JsonObject | null
}

/**
 * The latest turns of a thread, oldest first; earlier ones with `before`.
 * @throws AppError THREAD_NOT_FOUND, INVALID_INPUT
 */
export async function readThread(ctx: ServiceContext, input: unknown): Promise<{ turns: Turn[]; earlier: boolean }> {
  authorize(ctx, 'agent:read')
  const { agentId, threadId, before } = parseInput(ReadThread, input)
  const id = await requireThread(ctx, agentId, threadId)
  const found = await ctx.db
    .select()
    .from(messages)
    .where(
      and(
        eq(messages.tenantId, ctx.tenantId),
        eq(messages.threadId, id),
        before ? lt(messages.seq, before) : undefined,
      ),
    )
    .orderBy(desc(messages.seq))
    .limit(PAGE)
  const rows = found.reverse()
  // A page begins where a person spoke: the rest of a turn that is cut belongs to the page before.
  const first = rows.findIndex(({ role }) => role === 'user')
  const turns: Turn[] = []
  for (const row of first === -1 ? [] : rows.slice(first)) {
    if (row.role === 'user') turns.push(begin(row))
    else follow(turns.at(-1), row)
  }
  return { turns, earlier: (turns[0]?.seq ?? 1) > 1 }
}

type Row = typeof messages.$inferSelect

function begin({ seq, createdAt, content }: Row): Turn {
  const { message, dataContext } =
    typeof content === 'string' || Array.isArray(content) ? { message: '', dataContext: {} } : content
  return { seq, at: createdAt.toISOString(), message, dataContext, calls: [], text: '', metadata: null }
}

function follow(turn: Turn | undefined, { content, metadata }: Row): void {
  if (!turn) return
  if (isJsonObject(metadata)) turn.metadata = metadata
  if (typeof content === 'string') turn.text = content
  for (const part of Array.isArray(content) ? content : []) {
    if (!isJsonObject(part)) continue
    const id = String(own(part, 'toolCallId') ?? '')
    if (part.type === 'text') turn.text = String(part.text ?? '')
    else if (part.type === 'tool-call')
      turn.calls.push({ id, name: String(part.toolName ?? ''), input: shown(part.input ?? {}), result: null })
    else if (part.type === 'tool-result') {
      const call = turn.calls.findLast((one) => one.id === id)
      if (call) call.result = resultOf(part.output ?? null)
    }
  }
}

function resultOf(output: JsonValue): Call['result'] {
  const { type, value } = isJsonObject(output) ? output : { type: 'json', value: output }
  return { ok: !String(type).startsWith('error'), output: shown(value ?? null) }
}

function shown(value: JsonValue): Shown {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return text.length <= MAX_SHOWN ? { text, cutFrom: null } : { text: text.slice(0, MAX_SHOWN), cutFrom: text.length }
}
