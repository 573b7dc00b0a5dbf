import type { AssistantModelMessage, ModelMessage, ToolModelMessage } from 'ai'
import { sql } from 'drizzle-orm'
import { messages } from '@/db/schema/threads'
import type { ServiceContext } from '../context'
import type { MessageContent, TurnMetadata, UserMessage } from '../definition/agent'
import { toStorableJson } from '../definition/json'
import { userParts } from './prompt'

/** The most messages of history that a model gets; older ones stay in the database. */
export const MAX_MESSAGES = 200
const MAX_CHARACTERS = 400_000

export type ReplyMessage = AssistantModelMessage | ToolModelMessage

/** The greatest position in a thread. */
const LAST_SEQ = 2 ** 31 - 1

/**
 * The thread's messages so far, oldest first, starting at the beginning of a turn.
 * @param to the position of the newest that counts
 */
export async function readHistory(
  ctx: ServiceContext,
  threadId: string,
  to = LAST_SEQ,
): Promise<{ history: ModelMessage[]; to: number }> {
  // Measured in the database: tool results may be large, and messages that do not fit need not be transferred.
  const kept = await ctx.db.execute<Kept>(sql`
    select role, content, seq from (
      select role, content, seq, sum(length(content::text)) over (order by seq desc) as size from (
        select role, content, seq from ${messages}
        where tenant_id = ${ctx.tenantId} and thread_id = ${threadId} and seq <= ${to}
        order by seq desc limit ${MAX_MESSAGES}
      ) latest
    ) measured
    where size <= ${MAX_CHARACTERS} order by seq`)
  const start = kept.findIndex(({ role }) => role === 'user')
  return { history: start === -1 ? [] : kept.slice(start).map(toModelMessage), to: kept.at(-1)?.seq ?? 0 }
}

/** The rows of `rowsOfTurn`. */
type Kept = { seq: number } & ({ role: 'user'; content: UserMessage } | AssistantModelMessage | ToolModelMessage)

function toModelMessage({ seq: _seq, ...kept }: Kept): ModelMessage {
  return kept.role === 'user' ? { role: kept.role, content: userParts(kept.content) } : kept
}

interface SpokenTurn {
  userMessage: UserMessage
  replies: ReplyMessage[]
  metadata: TurnMetadata
  runId: string | null
}

/** The messages of a turn as rows of its thread, numbered from 1. */
export function rowsOfTurn({ userMessage, replies, metadata, runId }: SpokenTurn) {
  const rows = [{ role: 'user' as const, content: userMessage }, ...replies]
  return rows.map(({ role, content }, index) => ({
    seq: index + 1,
    role,
    content: stored(content),
    metadata: index === rows.length - 1 ? metadata : null,
    runId: index === 0 ? runId : null,
  }))
}

function stored(content: UserMessage | ReplyMessage['content']): MessageContent {
  if (typeof content === 'string') return toStorableJson(content)
  if (Array.isArray(content)) return toStorableJson(content)
  const { message, dataContext, files } = content
  return {
    ...{ message: toStorableJson(message), dataContext: toStorableJson(dataContext) },
    ...(files === undefined ? {} : { files }),
  }
}
