import { z } from 'zod'
import { ChatAnswer, ChatBody, ChatEvent } from '../agents/answers'
import { chatAnswer, chatEvents, FILE_ID } from '../agents/examples'
import { component, components } from '../definition/component'
import { openStream, SSE_HEADERS, streamAnswer, takesStream } from '../http/sse'
import { endpoint } from '../openapi/endpoint'
import { ChatApprovals } from './approve'
import { chat, openChat, openUiChat } from './chat'
import { isUiChat, UiChatRequest } from './ui-chat'
import { UI_STREAM_HEADERS } from './ui-stream'
import { APPROVAL_ID, responseOf, WAITS } from './waits'

const UiChatBody = component('UiChat', UiChatRequest.shape)
const AnyChatBody = z.union([ChatBody, UiChatBody, ChatApprovals]).register(components, { id: 'AnyChat' })

const wantsJson = (request: Request): boolean =>
  (request.headers.get('accept') ?? '').includes('application/json') && !takesStream(request)

export const CHAT = endpoint({
  method: 'POST',
  path: '/api/chat',
  tag: 'Agents',
  summary: 'Chat with an agent',
  description:
    'The agent answers in text; supervisors too. With `Accept: application/json` the response is the complete answer; otherwise it is a stream of events while the agent writes: `message.delta`, `tool.call`, `tool.result`, `handoff`, and finally `message.done` or `error`. If people are asked about a call of the agent, the stream ends with `message.waiting`, after an `approval.requested` for each question: send `approvals` with the answers, and get the stream that follows. After a lost connection, send the same body with `Last-Event-ID` within an hour to continue. A body with `messages`, as `useChat` of the AI SDK sends it, is answered in the AI SDK’s UI message stream instead.',
  permission: 'agent:invoke',
  headers: ['Idempotency-Key', 'Last-Event-ID'],
  body: {
    schema: AnyChatBody,
    required: true,
    examples: {
      message: {
        summary: 'A message',
        value: { agentId: 'agt_01KAHVD2S40000K6T8W3Y1M5QN', message: 'Two chairs, please.' },
      },
      file: {
        summary: 'A message with a file',
        value: {
          agentId: 'agt_01KAHVD2S40000K6T8W3Y1M5QN',
          message: 'Which chairs are these?',
          files: [{ fileId: FILE_ID }],
        },
      },
      approve: {
        summary: 'An answer to what the agent asks',
        value: {
          agentId: 'agt_01KAHVD2S40000K6T8W3Y1M5QN',
          threadId: 'thr_01KAHVE6V80000XJ5Q8C3R7M1D',
          approvals: [{ approvalId: APPROVAL_ID, approved: true }],
        },
      },
      ui: {
        summary: 'A chat of the AI SDK',
        value: {
          agentId: 'agt_01KAHVD2S40000K6T8W3Y1M5QN',
          id: 'f3Yq0kT1nXbZp8Wd',
          messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Two chairs, please.' }] }],
          trigger: 'submit-message',
        },
      },
    },
  },
  answers: {
    200: {
      description: 'The answer.',
      schema: ChatAnswer,
      stream: chatEvents,
      event: ChatEvent,
      examples: { answer: { summary: 'The answer', value: chatAnswer } },
    },
    202: WAITS,
    204: { description: 'The client has seen the end; do not reconnect.' },
  },
  errors: [
    'MESSAGE_REQUIRED',
    'FILE_NOT_SUPPORTED',
    'FILE_NOT_FOUND',
    'AGENT_NOT_FOUND',
    'THREAD_NOT_FOUND',
    'THREAD_BUSY',
    'THREAD_WAITING',
    'TOO_MANY_STREAMS',
    'BUDGET_EXCEEDED',
    'MODEL_ERROR',
  ],
  limit: 'invokes',
  // Resuming a stream is not a second message, whatever key the client sends with it.
  keepsAnswer: (request) => wantsJson(request) || !request.headers.has('last-event-id'),
  run: async ({ ctx, body, request, signal }) => {
    if (isUiChat(body)) {
      const stream = await openStream(ctx.tenantId, request.signal, () => openUiChat(ctx, body, signal))
      return { headers: { ...SSE_HEADERS, ...UI_STREAM_HEADERS }, body: stream }
    }
    if (wantsJson(request)) return responseOf(String(body.agentId), await chat(ctx, body, signal))
    const lastEventId = request.headers.get('last-event-id')
    return streamAnswer(
      await openStream(ctx.tenantId, request.signal, () => openChat(ctx, { body, lastEventId }, signal)),
    )
  },
})
