import { z } from 'zod'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { listAnswer } from '../openapi/list-answer'
import * as answers from './answers'
import { createWebhook } from './create'
import { getDelivery, listDeliveries, redeliver, testWebhook } from './deliveries'
import { getWebhook, listWebhooks } from './list'
import { rotateWebhook } from './rotate'
import { CreateWebhook, ListDeliveries, RotateWebhook, UpdateWebhook } from './schema'
import { deleteWebhook, updateWebhook } from './update'

const ID = 'whk_01K5A3QJ8Z0T7V2M9C4D6E8F1G'
const MESSAGE_ID = 'msg_5f0c2f7a1be14a0e8c6c9d1f0a7b3e42'
const at = '2026-01-05T09:30:00.000Z'
const path = '/api/webhooks/{webhookId}'

const parameters = {
  webhookId: { description: 'The webhook.', example: ID },
  deliveryId: { description: 'The message.', example: MESSAGE_ID },
}

const webhook = {
  id: ID,
  url: 'https://example.com/hooks',
  description: 'Order service',
  events: ['run.paused', 'run.completed', 'run.failed'],
  format: 'standard',
  enabled: true,
  disabledReason: null,
  failingSince: null,
  deliveredAt: at,
  waiting: 0,
  secrets: [{ createdAt: at, endsAt: null }],
  createdBy: 'key_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  createdAt: at,
  updatedAt: at,
}
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

const delivery = {
  id: MESSAGE_ID,
  type: 'run.completed',
  runId: 'run_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  status: 'delivered',
  attempts: [{ at, durationMs: 84, status: 204, error: null, response: '' }],
  nextAttemptAt: null,
  createdAt: at,
  endedAt: at,
}
const waiting = { ...delivery, status: 'pending', attempts: [], nextAttemptAt: at, endedAt: null }

const common = { parameters, tag: 'Webhooks', permission: 'webhook:manage' } as const
const one = (description: string) =>
  answer(description, answers.WebhookEndpoint, { webhook: example('The webhook', webhook) })
const queued = (description: string, value = waiting) =>
  answer(description, answers.WebhookDelivery, { delivery: example('It is about to be sent', value) })

export const WEBHOOK_ENDPOINTS = {
  listWebhooks: endpoint({
    ...common,
    method: 'GET',
    path: '/api/webhooks',
    summary: 'List the webhooks',
    description: 'Newest first, without their secrets. A workspace has at most 20.',
    answers: {
      200: answer('The webhooks.', z.array(answers.WebhookEndpoint), { list: example('One webhook', [webhook]) }),
    },
    errors: [],
    run: async ({ ctx }) => ({ body: await listWebhooks(ctx) }),
  }),
  createWebhook: endpoint({
    ...common,
    method: 'POST',
    path: '/api/webhooks',
    summary: 'Create a webhook',
    description: 'Only this response contains its secret. `Idempotency-Key` has no effect here.',
    body: {
      schema: CreateWebhook,
      required: true,
      examples: {
        webhook: example('For runs that end', {
          url: webhook.url,
          description: webhook.description,
          events: webhook.events,
        }),
        slack: example('For a channel in Slack', {
          url: 'https://hooks.slack.com/services/T000/B000/XXXX',
          events: ['run.paused', 'run.failed'],
          format: 'slack',
        }),
      },
    },
    answers: {
      201: answer(
        'The new webhook.',
        answers.CreatedWebhook,
        { webhook: example('With its secret', { ...webhook, deliveredAt: null, secret }) },
        ['Location'],
      ),
    },
    errors: ['CONFLICT'],
    // No `Idempotency-Key`: a stored response would contain the secret.
    run: async ({ ctx, body }) => {
      const created = await createWebhook(ctx, body)
      return { status: 201, headers: { location: `/api/webhooks/${created.id}` }, body: created }
    },
  }),
  getWebhook: endpoint({
    ...common,
    method: 'GET',
    path,
    summary: 'Get a webhook',
    description: 'Its state: whether it is enabled, since when it has been failing, and how many messages are waiting.',
    answers: { 200: one('The webhook.') },
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await getWebhook(ctx, { id: params.webhookId }) }),
  }),
  updateWebhook: endpoint({
    ...common,
    method: 'PUT',
    path,
    summary: 'Change a webhook',
    description:
      'Fields the body leaves out keep their values. Once enabled again, it gets the messages that have been waiting.',
    body: {
      schema: UpdateWebhook,
      required: true,
      examples: { enable: example('Enable it again', { enabled: true }) },
    },
    answers: { 200: one('The webhook as saved.') },
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params, body }) => ({
      body: await updateWebhook(ctx, { id: params.webhookId, body }),
    }),
  }),
  deleteWebhook: endpoint({
    ...common,
    method: 'DELETE',
    path,
    summary: 'Delete a webhook',
    description: 'Its deliveries are deleted too, including those that are still waiting.',
    answers: {
      200: answer('It is gone.', answers.DeletedWebhook, { deleted: example('Deleted', { id: ID, deleted: true }) }),
    },
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await deleteWebhook(ctx, { id: params.webhookId }) }),
  }),
  rotateWebhookSecret: endpoint({
    ...common,
    method: 'POST',
    path: `${path}/rotate`,
    summary: 'Replace the secret of a webhook',
    description:
      'For a while messages carry the signatures of both secrets. Only this response contains the new one. `Idempotency-Key` has no effect here.',
    body: { schema: RotateWebhook, required: false, examples: { hour: example('One hour', { graceHours: 1 }) } },
    answers: {
      200: answer('The new secret.', answers.RotatedWebhook, {
        rotated: example('The new secret', { id: ID, secret, oldSecretEndsAt: at }),
      }),
    },
    errors: ['NOT_FOUND'],
    // No `Idempotency-Key`: a stored response would contain the secret.
    run: async ({ ctx, params, body }) => ({ body: await rotateWebhook(ctx, { id: params.webhookId, body }) }),
  }),
  testWebhook: endpoint({
    ...common,
    method: 'POST',
    path: `${path}/test`,
    summary: 'Send a test message',
    description: 'Sends `webhook.test`, signed like every other message.',
    answers: { 200: queued('The message.', { ...waiting, type: 'webhook.test' }) },
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await testWebhook(ctx, { id: params.webhookId }) }),
  }),
  listWebhookDeliveries: endpoint({
    ...common,
    method: 'GET',
    path: `${path}/deliveries`,
    summary: 'List the deliveries of a webhook',
    description: 'Newest first, with every attempt. They are kept for 30 days after they end.',
    query: ListDeliveries,
    answers: {
      200: answer('The deliveries.', z.array(answers.WebhookDelivery), { list: example('One delivery', [delivery]) }, [
        'X-Total-Count',
        'Link',
      ]),
    },
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params, query, request }) =>
      listAnswer(request, await listDeliveries(ctx, { id: params.webhookId, query })),
  }),
  getWebhookDelivery: endpoint({
    ...common,
    method: 'GET',
    path: `${path}/deliveries/{deliveryId}`,
    summary: 'Get a delivery',
    description: 'With the body that is sent.',
    answers: {
      200: answer('The delivery.', answers.WholeDelivery, {
        delivery: example('Before the first attempt', { ...waiting, body: null }),
      }),
    },
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params }) => ({
      body: await getDelivery(ctx, { id: params.webhookId, deliveryId: params.deliveryId }),
    }),
  }),
  redeliverWebhook: endpoint({
    ...common,
    method: 'POST',
    path: `${path}/deliveries/{deliveryId}/redeliver`,
    summary: 'Send a message again',
    description: 'Sends it at once, with the same id and body, and retries it like a new message.',
    answers: { 200: queued('The message.') },
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params }) => ({
      body: await redeliver(ctx, { id: params.webhookId, deliveryId: params.deliveryId }),
    }),
  }),
}
