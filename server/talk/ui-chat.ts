import { createHash } from 'node:crypto'
import { z } from 'zod'
import { ChatRequest } from '../agents/schema'
import { subjectOf } from '../agents/thread'
import type { ServiceContext } from '../context'
import { component, components } from '../definition/component'
import type { JsonObject } from '../definition/json'
import { AppError } from '../errors'
import { parseWhole } from '../parse'

export const UiPart = component('UiPart', {
  type: z.string().describe('`text` for text; other parts have fields of their own.'),
  text: z.string().optional().describe('Of a part of that type.'),
})
/** The same under a second name, which clients may have. */
const UiMessagePart = UiPart.clone().register(components, { id: 'UiMessagePart' })
export const UiMessage = component('UiMessage', {
  id: z.string().optional().describe('The client’s own. Not read.'),
  role: z.string().describe('`user` or `assistant`.'),
  parts: z.array(UiMessagePart).describe('Its parts, in order.'),
})

/** The body that the AI SDK's `DefaultChatTransport` sends, with the fields that select the agent. */
export const UiChatRequest = z.object({
  ...ChatRequest.shape,
  threadId: ChatRequest.shape.threadId.describe('The thread to continue, regardless of the chat’s id.'),
  id: z
    .string()
    .min(1)
    .max(200)
    .describe('The chat’s id: the same id continues the same conversation. The id of a thread continues that one.'),
  messages: z
    .array(UiMessage)
    .min(1)
    .describe('The messages of the chat. Only the last one is read, and it must be from the user.'),
  trigger: z.string().optional().describe('Why the client sends it. Not read.'),
  messageId: z.string().optional().describe('The message that the client wants again. Not read.'),
})

/** Whether a body is the AI SDK's: it has the messages of a chat where ours has one. */
export function isUiChat(body: JsonObject): boolean {
  return Array.isArray(body.messages) && body.message === undefined
}

/**
 * Converts the request for `chat`. The thread is the one of `threadId` or of a chat id in that form; otherwise the
 * chat's id maps to a thread, which its first message creates. Only the last message counts, because the thread has the
 * others.
 * @throws AppError INVALID_INPUT
 */
export function fromUiChat(
  ctx: ServiceContext,
  body: JsonObject,
): { body: JsonObject; threadId: string | null; isOwn: boolean } {
  const { id, messages, threadId, agentId } = parseWhole(UiChatRequest, body)
  const { messages: _messages, id: _id, trigger: _trigger, messageId: _messageId, ...rest } = body
  const isThread = id.startsWith('thr_')
  const named = threadId ?? (isThread ? id : null)
  const thread = named ?? threadOf(ctx, agentId, id)
  return {
    body: { ...rest, message: said(messages.at(-1)), threadId: thread },
    threadId: thread,
    isOwn: named === null,
  }
}

function said(message: z.infer<typeof UiMessage> | undefined): string {
  const refuse = (path: string, problem: string) =>
    new AppError('INVALID_INPUT', { details: [{ path: `messages.${path}`, message: problem }] })
  if (message?.role !== 'user') throw refuse('role', 'The last message must be from the user.')
  if (message.parts.some(({ type }) => type === 'file'))
    throw refuse(
      'parts',
      'Files cannot be sent in parts. Upload each to POST /api/files and send its id in `files` of the body.',
    )
  return message.parts.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : [])).join('\n')
}

/** The thread of a chat, always the same for the same agent and caller. */
function threadOf(ctx: ServiceContext, agentId: string, chatId: string): string {
  const whose = JSON.stringify([agentId, subjectOf(ctx), chatId])
  return `thr_${createHash('sha256').update(whose).digest('hex').slice(0, 32)}`
}
