import { z } from 'zod'
import { component, components } from '../definition/component'
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from '../definition/webhook'
import { ms, time } from '../openapi/fields'

export const WebhookEndpoint = component('WebhookEndpoint', {
  id: z.string(),
  url: z.string(),
  description: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENTS)).describe('Events it subscribes to.'),
  format: z.enum(WEBHOOK_FORMATS).describe('How its messages are written.'),
  enabled: z.boolean().describe('A disabled endpoint gets no messages, and none are stored for it.'),
  disabledReason: z
    .enum(['failing', 'gone'])
    .nullable()
    .describe('Why the service disabled it: every attempt failed for five days, or it responded with 410.'),
  failingSince: time('Since when every attempt has failed; null if the last one succeeded.').nullable(),
  deliveredAt: time('When a message last arrived.').nullable(),
  waiting: z.int().min(0).describe('Messages still to be delivered; counted up to 1000.'),
  secrets: z
    .array(
      component('WebhookSecret', {
        createdAt: time('When it was created.'),
        endsAt: time('When it stops signing, because another one replaced it; null for the newest.').nullable(),
      }),
    )
    .describe('The secrets that sign, without their values, newest first.'),
  createdBy: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})

const secret = z.string().describe('Verifies the signatures. Shown only here.')

export const CreatedWebhook = WebhookEndpoint.extend({ secret }).register(components, { id: 'CreatedWebhook' })

export const RotatedWebhook = z.object({
  id: z.string(),
  secret,
  oldSecretEndsAt: time('Until when the old secret also signs; null if it no longer does.').nullable(),
})

export const DeletedWebhook = z.object({ id: z.string(), deleted: z.literal(true) })

export const WebhookDelivery = component('WebhookDelivery', {
  id: z.string().describe('Sent as `webhook-id`; the same for every attempt.'),
  type: z.string().describe('The event, or `webhook.test`.'),
  runId: z.string().nullable(),
  status: z
    .enum(['pending', 'delivered', 'failed'])
    .describe('`failed` once no more attempts are made, after about four days.'),
  attempts: z
    .array(
      component('DeliveryAttempt', {
        at: time('When it was sent.'),
        durationMs: ms('How long it took.'),
        status: z.int().nullable().describe('The status of the response; null without one.'),
        error: z.string().nullable().describe('Why the attempt failed; null if the message arrived.'),
        response: z.string().nullable().describe('How the response begins.'),
      }),
    )
    .describe('The last 20, oldest first.'),
  nextAttemptAt: time('When it is sent next; null once it is delivered or has failed.').nullable(),
  createdAt: time('When the event happened.'),
  endedAt: z.iso.datetime().nullable(),
})

export const WholeDelivery = WebhookDelivery.extend({
  body: z.string().nullable().describe('The body as sent; null before the first attempt.'),
}).register(components, { id: 'WholeWebhookDelivery' })
