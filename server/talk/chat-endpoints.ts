import { z } from 'zod'
import { ChatAnswer, ChatBody, ChatEvent } from '../agents/answers'
import { chatAnswer, chatEvents } from '../agents/examples'
import { component, components } from '../definition/component'
import { openStream, SSE_HEADERS, streamAnswer } from '../http/sse'
import { endpoint } from '../openapi/endpoint'
import { chat, openChat, openUiChat } from './chat'
import { isUiChat, UiChatRequest } from './ui-chat'
import { UI_STREAM_HEADERS } from './ui-stream'

const UiChatBody = component('UiChat', UiChatRequest.shape)
const AnyChatBody = z.union([ChatBody, UiChatBody]).register(components, { id: 'AnyChat' })

const wantsJson = ({ headers }: Request): boolean => {
  const accepts = headers.get('accept') ?? ''
  return accepts.includes('application/json') && !accepts.includes('text/event-stream')
}

export const CHAT = endpoint({
  method: 'POST',
  path: '/api/chat',
  tag: 'Agents',
  summary: 'Chat with an agent',
  description:
    'The agent answers in text; supervisors too. With `Accept: application/json` the response is the complete answer; otherwise it is a stream of events while the agent writes: `message.delta`, `tool.call`, `tool.result`, `handoff`, and finally `message.done` or `error`. After a lost connection, send the same body with `Last-Event-ID` within an hour to continue. A body with `messages`, as `useChat` of the AI SDK sends it, is answered in the AI SDK’s UI message stream instead.',
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
    204: { description: 'The client has seen the end; do not reconnect.' },
  },
  errors: [
    'MESSAGE_REQUIRED',
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
    if (wantsJson(request)) return { body: await chat(ctx, body, signal) }
    const lastEventId = request.headers.get('last-event-id')
    return streamAnswer(
      await openStream(ctx.tenantId, request.signal, () => openChat(ctx, { body, lastEventId }, signal)),
    )
  },
})
