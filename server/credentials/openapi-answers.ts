import { z } from 'zod'
import { time } from '../openapi/fields'
import { ROLES } from '../roles'

const role = z.enum(ROLES)

export const ApiKeyItem = z.object({
  id: z.string(),
  name: z.string(),
  role,
  hint: z.string().describe('The beginning and the end of the key, by which people recognise it.'),
  createdBy: z.string(),
  createdAt: time('When it was created.'),
  lastUsedAt: time('When it was last used, to the minute; null if never.').nullable(),
  disabledAt: time('When it was disabled; null if it works.').nullable(),
  rotatedFrom: z.string().nullable().describe('The key that it replaces.'),
  graceUntil: time('When it stops working, because another one replaced it.').nullable(),
})

export const CreatedKey = z.object({
  id: z.string(),
  key: z.string().describe('The key. Shown only here.'),
  tenantId: z.string().describe('For `x-tenant-id`.'),
  role,
})

export const RotatedKey = CreatedKey.extend({
  rotatedFrom: z.string().describe('The old key.'),
  graceUntil: time('When the old key stops working.'),
})

export const ChangedKey = z.object({ id: z.string(), tenantId: z.string(), disabled: z.boolean() })
