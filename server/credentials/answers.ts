import { z } from 'zod'
import { component, components } from '../definition/component'
import { time } from '../openapi/fields'
import { ROLES } from '../roles'

const role = z.enum(ROLES)
const only = z.enum(['definitions:check'])

export const ApiKeyItem = component('ApiKeyItem', {
  id: z.string(),
  name: z.string(),
  role,
  only: only.nullable().describe('The only thing it may do; null if its role decides.'),
  hint: z.string().describe('The beginning and the end of the key, by which people recognise it.'),
  createdBy: z.string(),
  createdAt: time('When it was created.'),
  lastUsedAt: time('When it was last used, to the minute; null if never.').nullable(),
  disabledAt: time('When it was disabled; null if it works.').nullable(),
  rotatedFrom: z.string().nullable().describe('The key that it replaces.'),
  graceUntil: time('When it stops working, because another one replaced it.').nullable(),
})

export const CreatedKey = component('CreatedKey', {
  id: z.string(),
  key: z.string().describe('The key. Shown only here.'),
  tenantId: z.string().describe('For `x-tenant-id`.'),
  role,
  only: only.optional().describe('The only thing it may do. Absent if its role decides.'),
})

export const RotatedKey = CreatedKey.extend({
  rotatedFrom: z.string().describe('The old key.'),
  graceUntil: time('When the old key stops working.'),
}).register(components, { id: 'RotatedKey' })

export const ChangedKey = z.object({ id: z.string(), tenantId: z.string(), disabled: z.boolean() })

const limits = {
  workflowIds: z.array(z.string()).nullable().describe('The workflows that its tokens may touch; null for all.'),
  agentIds: z.array(z.string()).nullable().describe('The agents that its tokens may touch; null for all.'),
  ownRuns: z.boolean().describe('Whether a token touches only runs that its own subject started.'),
}

export const SigningSecretItem = component('SigningSecretItem', {
  id: z.string().describe('What tokens name as `kid`.'),
  name: z.string(),
  role: role.describe('What its tokens may do.'),
  ...limits,
  createdBy: z.string(),
  createdAt: time('When it was created.'),
  lastUsedAt: time('When one of its tokens was last used, to the minute; null if never.').nullable(),
  longLivedAt: time('When a token that is valid for more than an hour was last seen; null if never.').nullable(),
  disabledAt: time('When it was disabled; null if it works.').nullable(),
  rotatedFrom: z.string().nullable().describe('The signing secret that it replaces.'),
  graceUntil: time('When its tokens stop working, because another one replaced it.').nullable(),
})

export const CreatedSecret = component('CreatedSigningSecret', {
  id: z.string().describe('For `kid` in the header of a token.'),
  secret: z.string().describe('The signing secret. Shown only here.'),
  audience: z.string().describe('For `aud`.'),
  tenantId: z.string().describe('For `x-tenant-id`.'),
  role,
})

export const RotatedSecret = CreatedSecret.extend({
  rotatedFrom: z.string().describe('The old signing secret.'),
  graceUntil: time('When tokens of the old one stop working.'),
}).register(components, { id: 'RotatedSigningSecret' })

export const LimitedSecret = z.object({ id: z.string(), tenantId: z.string(), ...limits })
export const ChangedSecret = z.object({ id: z.string(), tenantId: z.string(), disabled: z.boolean() })
