import { z } from 'zod'
import { AUDIT_ACTIONS, AUDIT_ACTORS, AUDIT_THINGS } from '../definition/audit'
import { component } from '../definition/component'
import { time } from '../openapi/fields'

const plain = z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())])

export const AuditEntry = component('AuditEntry', {
  id: z.string(),
  at: time('When it happened, by the clock of the database.'),
  actor: z
    .object({
      kind: z
        .enum(AUDIT_ACTORS)
        .describe('A person, an API key, a user of yours with a signed token, or the product and its command line.'),
      id: z.string(),
      name: z.string().describe('As it was then.'),
    })
    .describe('Who did it.'),
  action: z.enum(AUDIT_ACTIONS).describe('The action.'),
  thing: z
    .object({ kind: z.enum(AUDIT_THINGS), id: z.string(), name: z.string().describe('As it was then.') })
    .describe('The changed thing. It may no longer exist.'),
  details: z
    .record(z.string(), z.union([plain, z.object({ from: plain, to: plain })]))
    .describe('A summary of the change: plain values, and `changed` where a value would say too much. Never a secret.'),
  requestId: z.string().nullable().describe('The `x-request-id` of the response; null for the command line.'),
  address: z.string().nullable().describe('Where the request came from; of an IPv6 address the network.'),
})

export const AuditPage = component('AuditPage', {
  entries: z.array(AuditEntry).describe('Newest first.'),
  nextCursor: z.string().nullable().describe('For the next page; null on the last one.'),
})
