import { z } from 'zod'
import { AUDIT_ACTIONS, AUDIT_THINGS } from '../definition/audit'
import { wholeNumber } from '../query-values'

const MAX_LIMIT = 200

const Id = z.string().min(1).max(300)

/** Which entries: all fields together. */
export const AuditFilter = z.object({
  actor: Id.optional(),
  action: z.enum(AUDIT_ACTIONS).optional(),
  kind: z.enum(AUDIT_THINGS).optional(),
  thing: Id.optional(),
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
})
export type AuditFilter = z.input<typeof AuditFilter>

/** The query string of the list. */
export const ListAudit = AuditFilter.extend({
  limit: wholeNumber(1, MAX_LIMIT).optional(),
  cursor: z.string().max(400).optional(),
  format: z.enum(['json', 'csv']).optional(),
})
export type ListAudit = z.input<typeof ListAudit>
