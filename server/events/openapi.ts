import { example } from '../openapi/example'
import type { Operation, Texts } from '../openapi/types'
import * as answers from './openapi-answers'
import { PostEvent } from './schema'

export const EVENT_OPERATIONS: Operation[] = [
  {
    id: 'postEvent',
    method: 'POST',
    path: '/api/events',
    summary: 'Post an event',
    description:
      'Every run that waits for it goes on: a step `wait-for-event` with the same name, and the same key if it has one. A run that comes to such a step within seven days takes it too, if it started before the event was posted.',
    tag: 'Events',
    role: 'operator',
    headers: ['Idempotency-Key'],
    body: {
      schema: PostEvent,
      required: true,
      examples: {
        event: example('A payment', {
          name: 'payment.settled',
          key: 'order-1001',
          data: { amount: 120, currency: 'EUR' },
          id: 'pay_7c1',
        }),
      },
    },
    answers: {
      200: {
        description: 'It is stored, and is delivered even if the service stops now.',
        schema: answers.PostedEvent,
        examples: { posted: example('Posted', { success: true, eventId: 'pay_7c1' }) },
      },
    },
    errors: ['CONFLICT'],
  },
]

export const EVENT_TEXTS: Texts = {
  PostEvent: {
    name: 'What happened, such as `payment.settled`.',
    key: 'What it happened to, such as an order number. Steps that wait for a key take only events with it.',
    data: 'An object of at most 256 KiB; the step gets it as `data`.',
    id: 'Makes it safe to post again: one event per id. With other contents, 409.',
  },
}
