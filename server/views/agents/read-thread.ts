import { z } from 'zod'
import { requireThread } from '../../agents/thread'
import { readTurns, type ToolCall, type Turn as WholeTurn } from '../../agents/turns'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { MessageFile } from '../../definition/agent'
import type { JsonObject, JsonValue } from '../../definition/json'
import { parseInput } from '../../parse'

const PAGE = 50
/** Tool results may be large; this view shows only the course of the conversation. */
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
  /** The full length in characters; null if the text is whole. */
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

/** A person's message with every reply and tool call it led to. */
export interface Turn {
  seq: number
  at: string
  message: string
  dataContext: JsonObject
  files?: MessageFile[]
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
  const { agentId, threadId, before = null } = parseInput(ReadThread, input)
  const id = await requireThread(ctx, agentId, threadId)
  const turns = await readTurns(ctx, id, { before, limit: PAGE })
  return { turns: turns.map(showTurn), earlier: (turns[0]?.seq ?? 1) > 1 }
}

export function showTurn({ createdAt, toolCalls, answer, ...turn }: WholeTurn): Turn {
  return { ...turn, at: createdAt, calls: toolCalls.map(showCall), text: answer }
}

function showCall({ toolCallId, toolId, args, result }: ToolCall): Call {
  return {
    id: toolCallId,
    name: toolId,
    input: shown(args),
    result: result && { ok: result.success, output: shown(result.value) },
  }
}

/** Masked before, because half a secret would not be recognised. */
export function shown(value: JsonValue): Shown {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return text.length <= MAX_SHOWN ? { text, cutFrom: null } : { text: text.slice(0, MAX_SHOWN), cutFrom: text.length }
}
