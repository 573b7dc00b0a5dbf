import { z } from 'zod'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import * as answers from './answers'
import { CreateSecret, createSigningSecret } from './signing-secrets/create'
import { disableSigningSecret, enableSigningSecret } from './signing-secrets/disable'
import { limitSigningSecret } from './signing-secrets/limit'
import { NewLimits } from './signing-secrets/limits'
import { listSigningSecrets } from './signing-secrets/list'
import { RotateSecret, rotateSigningSecret } from './signing-secrets/rotate'

const ID = 'sec_01K5A3QJ8Z0T7V2M9C4D6E8F1G'
const at = '2026-01-05T09:30:00.000Z'
const path = '/api/signing-secrets/{secretId}'
const parameters = { secretId: { description: 'The signing secret’s id.', example: ID } }

const limits = { workflowIds: ['wf_01K5A3QJ8Z0T7V2M9C4D6E8F1G'], agentIds: [], ownRuns: true }
const secret = {
  id: ID,
  name: 'Customer portal',
  role: 'operator',
  ...limits,
  createdBy: 'usr_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  createdAt: at,
  lastUsedAt: at,
  longLivedAt: null,
  disabledAt: null,
  rotatedFrom: null,
  graceUntil: null,
}
const tenantId = 'ten_01K5A3QJ8Z0T7V2M9C4D6E8F1G'
const created = { id: ID, secret: 'Vb0…', audience: 'app.example.com', tenantId, role: 'operator' }

const common = { parameters, tag: 'Signing secrets', permission: 'secret:manage' } as const
const changed = (disabled: boolean) => ({
  200: answer('The signing secret.', answers.ChangedSecret, {
    secret: example('The signing secret', { id: ID, tenantId, disabled }),
  }),
})

export const SIGNING_SECRET_ENDPOINTS = {
  listSigningSecrets: endpoint({
    ...common,
    method: 'GET',
    path: '/api/signing-secrets',
    summary: 'List the signing secrets',
    description: 'Newest first, without the secrets themselves. Disabled and replaced ones too.',
    answers: {
      200: answer('The signing secrets.', z.array(answers.SigningSecretItem), {
        list: example('One signing secret', [secret]),
      }),
    },
    errors: [],
    run: async ({ ctx }) => ({ body: await listSigningSecrets(ctx) }),
  }),
  createSigningSecret: endpoint({
    ...common,
    method: 'POST',
    path: '/api/signing-secrets',
    summary: 'Create a signing secret',
    description:
      'Only this response contains the secret. Only owners give it a role above operator. `Idempotency-Key` has no effect here.',
    body: {
      schema: CreateSecret,
      required: true,
      examples: { secret: example('For one workflow', { name: secret.name, ...limits }) },
    },
    answers: {
      201: answer('The new signing secret.', answers.CreatedSecret, { secret: example('With the secret', created) }),
    },
    errors: [],
    // No `Idempotency-Key`: a stored response would contain the secret.
    run: async ({ ctx, body }) => ({ status: 201, body: await createSigningSecret(ctx, body) }),
  }),
  limitSigningSecret: endpoint({
    ...common,
    method: 'PUT',
    path: `${path}/limits`,
    summary: 'Change what tokens of a signing secret may touch',
    description: 'Replaces all its limits. It applies to tokens that were already issued, from their next request on.',
    body: { schema: NewLimits, required: true, examples: { limits: example('One workflow', limits) } },
    answers: {
      200: answer('The new limits.', answers.LimitedSecret, {
        limits: example('The limits', { id: ID, tenantId, ...limits }),
      }),
    },
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params, body }) => ({
      body: await limitSigningSecret(ctx, { id: params.secretId, limits: body }),
    }),
  }),
  rotateSigningSecret: endpoint({
    ...common,
    method: 'POST',
    path: `${path}/rotate`,
    summary: 'Replace a signing secret',
    description:
      'Creates one with the same name, role and limits. Tokens of both are accepted for a time, by default for as long as a token may be valid. A signing secret can be replaced only once, and not while it is disabled. Only this response contains the new one. `Idempotency-Key` has no effect here.',
    body: {
      schema: RotateSecret,
      required: false,
      examples: { now: example('Tokens of the old one stop working at once', { graceMs: 0 }) },
    },
    answers: {
      200: answer('The new signing secret.', answers.RotatedSecret, {
        secret: example('With the secret', {
          ...{ ...created, id: 'sec_01K5A3QJ8Z0T7V2M9C4D6E8F1H' },
          ...{ rotatedFrom: ID, graceUntil: '2026-01-06T09:30:00.000Z' },
        }),
      }),
    },
    errors: ['NOT_FOUND', 'CONFLICT'],
    // No `Idempotency-Key`: a stored response would contain the secret.
    run: async ({ ctx, params, body }) => ({
      body: await rotateSigningSecret(ctx, { id: params.secretId, graceMs: body.graceMs }),
    }),
  }),
  disableSigningSecret: endpoint({
    ...common,
    method: 'POST',
    path: `${path}/disable`,
    summary: 'Disable a signing secret',
    description:
      'Its tokens are refused from the next request on, in every process. Disabling it again changes nothing.',
    answers: changed(true),
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await disableSigningSecret(ctx, params.secretId) }),
  }),
  enableSigningSecret: endpoint({
    ...common,
    method: 'POST',
    path: `${path}/enable`,
    summary: 'Enable a signing secret',
    description: 'Its tokens work again, unless another signing secret has replaced it.',
    answers: changed(false),
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await enableSigningSecret(ctx, params.secretId) }),
  }),
}
