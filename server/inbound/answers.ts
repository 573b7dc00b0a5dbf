import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component, components } from '../definition/component'
import { SCHEMES } from '../definition/inbound'
import { time } from '../openapi/fields'

export const InboundDelivery = component('InboundDelivery', {
  id: z.string(),
  status: z
    .enum(['started', 'filtered', 'invalid', 'refused'])
    .describe(
      '`filtered`: the filter is not true. `invalid`: START fields are missing or invalid. `refused`: the start was refused.',
    ),
  runId: z.string().nullable().describe('The run it started.'),
  error: z.string().nullable().describe('Why it started none.'),
  replayOf: z.string().nullable().describe('The delivery that was replayed.'),
  replayedBy: z.string().nullable(),
  createdAt: time('When it arrived.'),
})

export const WholeInboundDelivery = InboundDelivery.extend({
  contentType: z.string(),
  headers: z.record(z.string(), z.string()).describe('Without those that may hold secrets.'),
  query: z
    .record(z.string(), z.union([z.string(), z.array(z.string())]))
    .describe('Likewise; a parameter that was sent more than once has a list.'),
  body: z.string().nullable().describe('As it was sent; null once it is no longer stored.'),
}).register(components, { id: 'WholeInboundDelivery' })

export const InboundWebhook = component('InboundWebhook', {
  id: z.string(),
  workflowId: z.string(),
  name: z.string(),
  path: z.string().describe('The sender posts to this path of the installation.'),
  scheme: z.enum(SCHEMES),
  signatureHeader: z.string().nullable().describe('Of `hmac`.'),
  encoding: z.enum(['hex', 'base64']).nullable().describe('Of `hmac`.'),
  idHeader: z.string().nullable().describe('The header that identifies a delivery, of `hmac` and `none`.'),
  secrets: z
    .array(
      component('InboundSecret', {
        createdAt: time('When it was set.'),
        endsAt: time('When it is no longer accepted, because another one replaced it; null for the newest.').nullable(),
      }),
    )
    .describe('The secrets that are accepted, without their values, newest first.'),
  mapping: z.record(z.string(), z.string()),
  when: z.string().nullable(),
  enabled: z.boolean().describe('False while it is paused.'),
  last: InboundDelivery.nullable().describe('Its last delivery; null before the first.'),
  refused: z
    .object({ at: z.iso.datetime(), reason: z.string() })
    .nullable()
    .describe('The last request that was not accepted since its settings were changed.'),
  createdBy: z.string(),
  updatedBy: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})

const secret = z.string().nullable().describe('The generated secret, for the sender. Shown only here.')

export const CreatedInbound = InboundWebhook.extend({ secret }).register(components, { id: 'CreatedInbound' })

export const RotatedInbound = z.object({
  id: z.string(),
  secret,
  oldSecretEndsAt: time('Until when the old secret is accepted as well; null if it no longer is.').nullable(),
})

export const DeletedInbound = z.object({ id: z.string(), deleted: z.literal(true) })

export const TriedInbound = component('TriedInbound', {
  starts: z.boolean().describe('Whether it would start a run.'),
  filtered: z.string().nullable().describe('Why the filter is not true; null if it is.'),
  data: z.record(z.string(), AnyJson).describe('The resulting START fields.'),
  problems: z
    .array(component('InboundProblem', { path: z.string(), message: z.string() }))
    .describe('The problems of these fields.'),
})

export const ReceivedDelivery = component('ReceivedDelivery', {
  outcome: z.enum(['started', 'filtered', 'duplicate']),
  runId: z.string().nullable(),
  deliveryId: z.string(),
})

export const Challenge = z.object({ challenge: z.string() })
