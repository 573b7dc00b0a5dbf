import { z } from 'zod'
import { component, components } from '../definition/component'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { time } from '../openapi/fields'
import { BindSecret, bindVaultSecret } from './bind'
import { deleteVaultSecret } from './delete'
import { listVaultSecrets } from './list'
import { SetSecret } from './schema'
import { setVaultSecret } from './set'

const NAME = 'PAYMENTS_KEY'
const at = '2026-01-05T09:30:00.000Z'
const hosts = ['api.example.com']
const parameters = { name: { description: 'The secret’s name.', example: NAME } }
const common = { parameters, tag: 'Vault', permission: 'secret:manage' } as const

export const VaultSecret = component('VaultSecret', {
  name: z.string().describe('For `${secrets.NAME}`.'),
  hosts: z.array(z.string()).nullable().describe('The hosts it may be sent to; null if it may be sent anywhere.'),
  createdBy: z.string(),
  updatedBy: z.string(),
  createdAt: time('When it was first set.'),
  updatedAt: time('When it was last set or bound.'),
  short: z.boolean().describe('Whether its value is so short that it could be guessed.'),
})
const SecretSet = z.object({ name: z.string(), created: z.boolean().describe('Whether the name is new.') })
/** Without the name, which is in the path. */
export const BindHosts = BindSecret.omit({ name: true }).register(components, { id: 'BindHosts' })

export const VAULT_ENDPOINTS = {
  listVaultSecrets: endpoint({
    ...common,
    method: 'GET',
    path: '/api/vault',
    summary: 'List the secrets of the vault',
    description: 'By name, and without their values, which nobody can read.',
    answers: {
      200: answer('The secrets.', z.array(VaultSecret), {
        list: example('One secret', [
          { name: NAME, hosts, createdBy: 'usr_1', updatedBy: 'usr_1', createdAt: at, updatedAt: at, short: false },
        ]),
      }),
    },
    errors: [],
    run: async ({ ctx }) => ({ body: await listVaultSecrets(ctx) }),
  }),
  setVaultSecret: endpoint({
    ...common,
    method: 'POST',
    path: '/api/vault',
    summary: 'Set a secret',
    description: 'Stores a value, instead of an earlier one of that name. `Idempotency-Key` has no effect here.',
    body: {
      schema: SetSecret,
      required: true,
      examples: { secret: example('For one host', { name: NAME, value: 'a value of 12 or more characters', hosts }) },
    },
    answers: {
      200: answer('It has a new value.', SecretSet, { again: example('Set again', { name: NAME, created: false }) }),
      201: answer('The name is new.', SecretSet, { set: example('Set', { name: NAME, created: true }) }),
    },
    errors: [],
    // Repeating it has the same effect, and a value must not be stored with a key.
    run: async ({ ctx, body }) => {
      const set = await setVaultSecret(ctx, body)
      return { status: set.created ? 201 : 200, body: set }
    },
  }),
  bindVaultSecret: endpoint({
    ...common,
    method: 'PUT',
    path: '/api/vault/{name}/hosts',
    summary: 'Bind a secret to hosts',
    description: 'Tools and agents send it to these hosts only, from the next call on. Its value stays.',
    body: { schema: BindHosts, required: true, examples: { hosts: example('One host', { hosts }) } },
    answers: {
      200: answer('The secret.', z.object({ name: z.string(), hosts: z.array(z.string()) }), {
        bound: example('Bound', { name: NAME, hosts }),
      }),
    },
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params, body }) => ({
      body: await bindVaultSecret(ctx, { hosts: body.hosts, name: params.name }),
    }),
  }),
  deleteVaultSecret: endpoint({
    ...common,
    method: 'DELETE',
    path: '/api/vault/{name}',
    summary: 'Delete a secret',
    description: 'Tools and agents that use it fail from the next call on.',
    answers: {
      200: answer('It is gone.', z.object({ name: z.string(), deleted: z.literal(true) }), {
        deleted: example('Deleted', { name: NAME, deleted: true }),
      }),
    },
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await deleteVaultSecret(ctx, params.name) }),
  }),
}
