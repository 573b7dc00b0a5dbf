import { z } from 'zod'
import { example } from '../openapi/example'
import type { Operation } from '../openapi/types'
import * as answers from './openapi-answers'
import { CreateSecret } from './signing-secrets/create'
import { NewLimits } from './signing-secrets/limits'
import { RotateSecret } from './signing-secrets/rotate'

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

const common = { parameters, tag: 'Signing secrets', role: 'admin' } as const
const changed = (disabled: boolean) => ({
  200: {
    description: 'The signing secret.',
    schema: answers.ChangedSecret,
    examples: { secret: example('The signing secret', { id: ID, tenantId, disabled }) },
  },
})

export const SIGNING_SECRET_OPERATIONS: Operation[] = [
  {
    ...common,
    id: 'listSigningSecrets',
    method: 'GET',
    path: '/api/signing-secrets',
    summary: 'List the signing secrets',
    description: 'Newest first, without the secrets themselves. Disabled and replaced ones too.',
    answers: {
      200: {
        description: 'The signing secrets.',
        schema: z.array(answers.SigningSecretItem),
        examples: { list: example('One signing secret', [secret]) },
      },
    },
    errors: [],
  },
  {
    ...common,
    id: 'createSigningSecret',
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
      201: {
        description: 'The new signing secret.',
        schema: answers.CreatedSecret,
        examples: { secret: example('With the secret', created) },
      },
    },
    errors: [],
  },
  {
    ...common,
    id: 'limitSigningSecret',
    method: 'PUT',
    path: `${path}/limits`,
    summary: 'Change what tokens of a signing secret may touch',
    description: 'Replaces all its limits. It applies to tokens that were already issued, from their next request on.',
    body: { schema: NewLimits, required: true, examples: { limits: example('One workflow', limits) } },
    answers: {
      200: {
        description: 'The new limits.',
        schema: answers.LimitedSecret,
        examples: { limits: example('The limits', { id: ID, tenantId, ...limits }) },
      },
    },
    errors: ['NOT_FOUND'],
  },
  {
    ...common,
    id: 'rotateSigningSecret',
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
      200: {
        description: 'The new signing secret.',
        schema: answers.RotatedSecret,
        examples: {
          secret: example('With the secret', {
            ...{ ...created, id: 'sec_01K5A3QJ8Z0T7V2M9C4D6E8F1H' },
            ...{ rotatedFrom: ID, graceUntil: '2026-01-06T09:30:00.000Z' },
          }),
        },
      },
    },
    errors: ['NOT_FOUND', 'CONFLICT'],
  },
  {
    ...common,
    id: 'disableSigningSecret',
    method: 'POST',
    path: `${path}/disable`,
    summary: 'Disable a signing secret',
    description:
      'Its tokens are refused from the next request on, in every process. Disabling it again changes nothing.',
    answers: changed(true),
    errors: ['NOT_FOUND'],
  },
  {
    ...common,
    id: 'enableSigningSecret',
    method: 'POST',
    path: `${path}/enable`,
    summary: 'Enable a signing secret',
    description: 'Its tokens work again, unless another signing secret has replaced it.',
    answers: changed(false),
    errors: ['NOT_FOUND'],
  },
]
