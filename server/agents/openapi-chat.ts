import type { Operation } from '../openapi/types'
import { ChatAnswer, ChatBody } from './openapi-answers'
import { chatAnswer, chatEvents } from './openapi-examples'

export const CHAT: Operation = {
  id: 'chat',
  method: 'POST',
  path: '/api/chat',
  tag: 'Agents',
  summary: 'Speak with an agent',
  description:
    'In words; supervisor agents too. With `Accept: application/json` the answer comes whole, else as events while it is made: `message.delta`, `tool.call`, `tool.result`, `handoff`, and at last `message.done` or `error`. A caller that goes away can come back within an hour with the same body and `Last-Event-ID`.',
  role: 'operator',
  headers: ['Idempotency-Key', 'Last-Event-ID'],
  body: {
    schema: ChatBody,
    required: true,
    examples: {
      message: {
        summary: 'A message',
        value: { agentId: 'agt_01KAHVD2S40000K6T8W3Y1M5QN', message: 'Two chairs, please.' },
      },
    },
  },
  answers: {
    200: {
      description: 'The answer.',
      schema: ChatAnswer,
      stream: chatEvents,
      examples: { answer: { summary: 'The answer', value: chatAnswer } },
    },
    204: { description: 'The client has seen the end already, and need not come back.' },
  },
  errors: ['MESSAGE_REQUIRED', 'AGENT_NOT_FOUND', 'THREAD_NOT_FOUND', 'THREAD_BUSY', 'MODEL_ERROR'],
}
