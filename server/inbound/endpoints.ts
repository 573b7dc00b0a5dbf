import { z } from 'zod'
import { now } from '../clock'
import { database } from '../database'
import { AnyJson } from '../definition/any-json'
import { readBytes } from '../http/body'
import { log } from '../log'
import { answer } from '../openapi/answer'
import { endpoint, publicEndpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { listAnswer } from '../openapi/list-answer'
import * as answers from './answers'
import { getInboundDelivery, listInboundDeliveries, replayInboundDelivery } from './deliveries'
import { delivery, ID, inbound, received, tried, WORKFLOW } from './examples'
import { getInbound, listInbound } from './list'
import { receiveDelivery } from './receive'
import { rotateInbound } from './rotate'
import { createInbound, deleteInbound, updateInbound } from './save'
import { CreateInbound, ListInboundDeliveries, RotateInbound, TryInbound, UpdateInbound } from './schema'
import { tryInbound } from './try'

const path = '/api/workflows/{id}/inbound-webhooks'
const one = `${path}/{inboundId}`
const common = {
  parameters: {
    id: { description: 'The workflow.', example: WORKFLOW },
    inboundId: { description: 'The inbound webhook.', example: ID },
    deliveryId: { description: 'The delivery.', example: delivery.id },
  },
  tag: 'Inbound webhooks',
  permission: 'workflow:publish',
} as const
const NOT_FOUND = ['WORKFLOW_NOT_FOUND', 'NOT_FOUND'] as const

const whole = (description: string) =>
  answer(description, answers.InboundWebhook, { webhook: example('For GitHub', inbound) })

const named = ({ id, inboundId }: Record<'id' | 'inboundId', string>) => ({ workflowId: id, inboundId })

export const INBOUND_ENDPOINTS = {
  receiveDelivery: publicEndpoint({
    method: 'POST',
    path: '/api/hooks/{hookId}',
    parameters: {
      hookId: { description: 'The last part of the address.', example: 'q3Jb1yYV0m0n6zRk2v8s5t7w9x1A3C5E7G9I1K3M5O' },
    },
    tag: 'Inbound webhooks',
    summary: 'Start a workflow from another system',
    description:
      'The signature is the credential. The body is JSON, a form or text, of at most 1 MiB. A delivery that is sent again starts nothing and gets the run of the first one.',
    body: {
      schema: z.record(z.string(), AnyJson),
      required: false,
      examples: { opened: example('An issue', { action: 'opened', issue: { number: 7, title: 'It drips' } }) },
    },
    answers: {
      200: answer(
        'No run was started: the delivery was filtered, or is a duplicate. For Slack: the challenge, or an empty body.',
        z.union([answers.ReceivedDelivery, answers.Challenge]),
        { filtered: example('Filtered', { ...received, outcome: 'filtered', runId: null }) },
      ),
      202: answer('A run was started.', answers.ReceivedDelivery, { started: example('Started', received) }),
    },
    errors: [
      ...([
        'INVALID_INPUT',
        'VALIDATION_FAILED',
        'UNAUTHORIZED',
        'NOT_FOUND',
        'CONFLICT',
        'WORKFLOW_ARCHIVED',
      ] as const),
      ...(['PAYLOAD_TOO_LARGE', 'RATE_LIMITED', 'UNAVAILABLE'] as const),
    ],
    run: async ({ request, requestId, params, query }) => {
      const base = { db: database().db, log: log().child({ requestId }), now, requestId }
      const { headers } = request
      const arrival = { hookId: params.hookId, headers, query: query(), readBytes: () => readBytes(request) }
      const received = await receiveDelivery(base, arrival)
      if ('challenge' in received) return { body: received }
      const { silent, ...body } = received
      if (silent) return { body: new Uint8Array() }
      return { status: body.outcome === 'started' ? 202 : 200, body }
    },
  }),
  listInboundWebhooks: endpoint({
    ...common,
    method: 'GET',
    path,
    summary: 'List the inbound webhooks of a workflow',
    description: 'Newest first, without their secrets. A workflow has at most 50.',
    answers: {
      200: answer('The inbound webhooks.', z.array(answers.InboundWebhook), {
        list: example('One inbound webhook', [inbound]),
      }),
    },
    errors: ['WORKFLOW_NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await listInbound(ctx, { workflowId: params.id }) }),
  }),
  createInboundWebhook: endpoint({
    ...common,
    method: 'POST',
    path,
    summary: 'Create an inbound webhook',
    description: 'Only this response contains a generated secret. `Idempotency-Key` has no effect here.',
    body: {
      schema: CreateInbound,
      required: true,
      examples: {
        github: example('Opened issues of GitHub', {
          name: inbound.name,
          scheme: 'github',
          mapping: inbound.mapping,
          when: inbound.when,
        }),
      },
    },
    answers: {
      201: answer(
        'The new inbound webhook.',
        answers.CreatedInbound,
        { webhook: example('With its secret', { ...inbound, last: null, secret: '5f0c…' }) },
        ['Location'],
      ),
    },
    errors: ['WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED', 'CONFLICT'],
    // No `Idempotency-Key`: a stored answer would hold the secret.
    run: async ({ ctx, params, body }) => {
      const created = await createInbound(ctx, { workflowId: params.id, body })
      const location = `/api/workflows/${created.workflowId}/inbound-webhooks/${created.id}`
      return { status: 201, headers: { location }, body: created }
    },
  }),
  getInboundWebhook: endpoint({
    ...common,
    method: 'GET',
    path: one,
    summary: 'Get an inbound webhook',
    description: 'With its last delivery, and the last request that was not accepted.',
    answers: { 200: whole('The inbound webhook.') },
    errors: NOT_FOUND,
    run: async ({ ctx, params }) => ({ body: await getInbound(ctx, named(params)) }),
  }),
  updateInboundWebhook: endpoint({
    ...common,
    method: 'PUT',
    path: one,
    summary: 'Change, pause or resume an inbound webhook',
    description: 'Fields the body leaves out keep their values, and so do the secrets.',
    body: { schema: UpdateInbound, required: true, examples: { pause: example('Pause it', { enabled: false }) } },
    answers: { 200: whole('The inbound webhook as saved.') },
    errors: NOT_FOUND,
    run: async ({ ctx, params, body }) => ({ body: await updateInbound(ctx, { ...named(params), body }) }),
  }),
  deleteInboundWebhook: endpoint({
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete an inbound webhook',
    description: 'Its deliveries are deleted too. The runs it has started are kept.',
    answers: {
      200: answer('It is gone.', answers.DeletedInbound, { deleted: example('Deleted', { id: ID, deleted: true }) }),
    },
    errors: NOT_FOUND,
    run: async ({ ctx, params }) => ({ body: await deleteInbound(ctx, named(params)) }),
  }),
  rotateInboundSecret: endpoint({
    ...common,
    method: 'POST',
    path: `${one}/rotate`,
    summary: 'Replace the secret of an inbound webhook',
    description:
      'With the sender’s own or a generated one. For a while both are accepted. `Idempotency-Key` has no effect here.',
    body: { schema: RotateInbound, required: false, examples: { hour: example('One hour', { graceHours: 1 }) } },
    answers: {
      200: answer('The new secret.', answers.RotatedInbound, {
        rotated: example('A generated secret', { id: ID, secret: '5f0c…', oldSecretEndsAt: delivery.createdAt }),
      }),
    },
    errors: NOT_FOUND,
    // No `Idempotency-Key`: a stored answer would hold the secret.
    run: async ({ ctx, params: { id, inboundId }, body }) => ({
      body: await rotateInbound(ctx, { workflowId: id, inboundId, body }),
    }),
  }),
  tryInboundWebhook: endpoint({
    ...common,
    method: 'POST',
    path: `${one}/test`,
    summary: 'Try the mapping and the filter',
    description: 'Shows what a delivery would start. No run is started and nothing is stored.',
    body: {
      schema: TryInbound,
      required: true,
      examples: { issue: example('An issue', { body: { action: 'opened', issue: { title: 'It drips' } } }) },
    },
    answers: {
      200: answer('What it would start.', answers.TriedInbound, { tried: example('A run', tried) }),
    },
    errors: [...NOT_FOUND, 'WORKFLOW_ARCHIVED'],
    run: async ({ ctx, params: { id, inboundId }, body }) => ({
      body: await tryInbound(ctx, { workflowId: id, inboundId, body }),
    }),
  }),
  listInboundDeliveries: endpoint({
    ...common,
    method: 'GET',
    path: `${one}/deliveries`,
    summary: 'List the deliveries of an inbound webhook',
    description: 'Newest first, without their contents. They are kept for 30 days.',
    query: ListInboundDeliveries,
    answers: {
      200: answer('The deliveries.', z.array(answers.InboundDelivery), { list: example('One delivery', [delivery]) }, [
        'X-Total-Count',
        'Link',
      ]),
    },
    errors: NOT_FOUND,
    run: async ({ ctx, params: { id, inboundId }, query, request }) =>
      listAnswer(request, await listInboundDeliveries(ctx, { workflowId: id, inboundId, query })),
  }),
  getInboundDelivery: endpoint({
    ...common,
    method: 'GET',
    path: `${one}/deliveries/{deliveryId}`,
    summary: 'Get a delivery of an inbound webhook',
    description: 'With its body and headers.',
    answers: {
      200: answer('The delivery.', answers.WholeInboundDelivery, {
        delivery: example('The delivery', {
          ...delivery,
          contentType: 'application/json',
          headers: { 'x-github-event': 'issues' },
          query: {},
          body: '{"action":"opened","issue":{"title":"It drips"}}',
        }),
      }),
    },
    errors: NOT_FOUND,
    run: async ({ ctx, params: { id, inboundId, deliveryId } }) => ({
      body: await getInboundDelivery(ctx, { workflowId: id, inboundId, deliveryId }),
    }),
  }),
  replayInboundDelivery: endpoint({
    ...common,
    method: 'POST',
    path: `${one}/deliveries/{deliveryId}/replay`,
    summary: 'Replay a delivery',
    description: 'Applies the current mapping and filter to it as a new delivery, which may start another run.',
    headers: ['Idempotency-Key'],
    answers: {
      201: answer('The new delivery.', answers.InboundDelivery, {
        replay: example('A replay', { ...delivery, replayOf: delivery.id, replayedBy: inbound.createdBy }),
      }),
    },
    errors: [...NOT_FOUND, 'CONFLICT'],
    limit: 'starts',
    run: async ({ ctx, params: { id, inboundId, deliveryId } }) => ({
      status: 201,
      body: await replayInboundDelivery(ctx, { workflowId: id, inboundId, deliveryId }),
    }),
  }),
}
