import { z } from 'zod'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import * as answers from './answers'
import { CreateKey, createApiKey } from './api-keys/create'
import { disableApiKey, enableApiKey } from './api-keys/disable'
import { listApiKeys } from './api-keys/list'
import { RotateKey, rotateApiKey } from './api-keys/rotate'

const ID = 'key_01K5A3QJ8Z0T7V2M9C4D6E8F1G'
const at = '2026-01-05T09:30:00.000Z'
const path = '/api/keys/{keyId}'
const parameters = { keyId: { description: 'The key’s id.', example: ID } }

const key = {
  id: ID,
  name: 'Order service',
  role: 'operator',
  only: null,
  hint: 'sk_2mKf…x4Qm',
  createdBy: 'usr_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  createdAt: at,
  lastUsedAt: at,
  disabledAt: null,
  rotatedFrom: null,
  graceUntil: null,
}
const created = { id: ID, key: 'sk_…', tenantId: 'ten_01K5A3QJ8Z0T7V2M9C4D6E8F1G', role: 'operator' }

const common = { parameters, tag: 'API keys', permission: 'key:manage' } as const
const changed = (disabled: boolean) => ({
  200: answer('The key.', answers.ChangedKey, {
    key: example('The key', { id: ID, tenantId: created.tenantId, disabled }),
  }),
})

export const KEY_ENDPOINTS = {
  listApiKeys: endpoint({
    ...common,
    method: 'GET',
    path: '/api/keys',
    summary: 'List the API keys',
    description: 'Newest first, without the keys themselves. Disabled and replaced ones too.',
    answers: {
      200: answer('The keys.', z.array(answers.ApiKeyItem), { list: example('One key', [key]) }),
    },
    errors: [],
    run: async ({ ctx }) => ({ body: await listApiKeys(ctx) }),
  }),
  createApiKey: endpoint({
    ...common,
    method: 'POST',
    path: '/api/keys',
    summary: 'Create an API key',
    description:
      'Only this response contains the key. Its role may not be above that of the caller. `Idempotency-Key` has no effect here.',
    body: {
      schema: CreateKey,
      required: true,
      examples: {
        key: example('For a service', { name: key.name, role: key.role }),
        check: example('For pull requests', { name: 'Pull requests', only: 'definitions:check' }),
      },
    },
    answers: {
      201: answer('The new key.', answers.CreatedKey, { key: example('With the key', created) }),
    },
    errors: [],
    // No `Idempotency-Key`: a stored response would contain the key.
    run: async ({ ctx, body }) => ({ status: 201, body: await createApiKey(ctx, body) }),
  }),
  rotateApiKey: endpoint({
    ...common,
    method: 'POST',
    path: `${path}/rotate`,
    summary: 'Replace an API key',
    description:
      'Creates a key with the same name and role. The old one keeps working for a time. A key can be replaced only once, and not while it is disabled. Only this response contains the new key. `Idempotency-Key` has no effect here.',
    body: {
      schema: RotateKey,
      required: false,
      examples: { now: example('The old one stops at once', { graceMs: 0 }) },
    },
    answers: {
      200: answer('The new key.', answers.RotatedKey, {
        key: example('With the key', {
          ...{ ...created, id: 'key_01K5A3QJ8Z0T7V2M9C4D6E8F1H' },
          ...{ rotatedFrom: ID, graceUntil: '2026-01-06T09:30:00.000Z' },
        }),
      }),
    },
    errors: ['NOT_FOUND', 'CONFLICT'],
    // No `Idempotency-Key`: a stored response would contain the key.
    run: async ({ ctx, params, body }) => ({ body: await rotateApiKey(ctx, params.keyId, body.graceMs) }),
  }),
  disableApiKey: endpoint({
    ...common,
    method: 'POST',
    path: `${path}/disable`,
    summary: 'Disable an API key',
    description: 'It is refused from the next request on, in every process. Disabling it again changes nothing.',
    answers: changed(true),
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await disableApiKey(ctx, params.keyId) }),
  }),
  enableApiKey: endpoint({
    ...common,
    method: 'POST',
    path: `${path}/enable`,
    summary: 'Enable an API key',
    description: 'It works again, unless another key has replaced it.',
    answers: changed(false),
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await enableApiKey(ctx, params.keyId) }),
  }),
}
