import { and, desc, eq, lt } from 'drizzle-orm'
import { z } from 'zod'
import { messages } from '@/db/schema/threads'
import { requireThread } from '../../agents/thread'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../definition/json'
import { parseInput } from '../../parse'

const PAGE = 100
/** Tool results may be large; this view shows how the conversation went. */
const MAX_SHOWN = 20_000

const ReadThread = z.object({
  agentId: z.string(),
  threadId: z.string(),
  /** The first message already shown. */
  before: z.number().int().min(1).nullish(),
})
export type ReadThread = z.input<typeof ReadThread>

/** A value as JSON text, cut if it is long. */
export interface Shown {
  text: string
  /** The full length in characters; null when nothing was cut. */
  cutFrom: number | null
}

export interface Call {
  id: string
  /** The tool's id, or `handoff_` plus the agent's id. */
  name: string
  input: Shown
  /** Null for a call without a result. */
  result: { ok: boolean; output: Shown } | null
}

/** A person's message and everything said and done in answer. */
export interface Turn {
  seq: number
  at: string
  message: string
  dataContext: JsonObject
  calls: Call[]
  text: string
  /** Provider, model, version, usage: the answer's `metadata`. */
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
  const turns = turnsOf(found.reverse())
  return { turns, earlier: (turns[0]?.seq ?? 1) > 1 }
}

/** The turns that messages in order make up. */
export function turnsOf(rows: Row[]): Turn[] {
  // A page starts at a user's message; the rest of a cut turn belongs to the previous page.
  const first = rows.findIndex(({ role }) => role === 'user')
  const turns: Turn[] = []
  for (const row of first === -1 ? [] : rows.slice(first)) {
    if (row.role === 'user') turns.push(begin(row))
    else follow(turns.at(-1), row)
  }
  return turns
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
