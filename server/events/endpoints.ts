import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import * as answers from './answers'
import { postEvent } from './post'
import { PostEvent } from './schema'

export const EVENT_ENDPOINTS = {
  postEvent: endpoint({
    method: 'POST',
    path: '/api/events',
    summary: 'Post an event',
    description:
      'Continues every run that waits for it at a `wait-for-event` step with the same name, and the same key if the step has one. A run that started before the event was posted and reaches such a step within seven days takes it too; of several that match, the oldest. Each step of a run takes an event once.',
    tag: 'Events',
    permission: 'event:post',
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
      200: answer('The event is stored, and will be delivered even if the service stops now.', answers.PostedEvent, {
        posted: example('Posted', { success: true, eventId: 'pay_7c1' }),
      }),
    },
    errors: ['CONFLICT'],
    run: async ({ ctx, body }) => ({ body: await postEvent(ctx, body) }),
  }),
}
