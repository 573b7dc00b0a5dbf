import { z } from 'zod'
import { AUDIT_ACTIONS, AUDIT_THINGS } from '../definition/audit'
import { wholeNumber } from '../query/values'

const MAX_LIMIT = 200

const Id = z.string().min(1).max(300)

/** The entries to select: all fields must match. */
export const AuditFilter = z.object({
  actor: Id.optional().describe(
    'Only what this actor did: the id of a person or an API key, or the subject of a token.',
  ),
  action: z.enum(AUDIT_ACTIONS).optional().describe('Only this action.'),
  kind: z.enum(AUDIT_THINGS).optional().describe('Only things of this kind.'),
  thing: Id.optional().describe('Only the thing with this id.'),
  from: z.iso.datetime({ offset: true }).optional().describe('Only entries at or after this time.'),
  to: z.iso.datetime({ offset: true }).optional().describe('Only entries before this time.'),
})
export type AuditFilter = z.input<typeof AuditFilter>

/** The query string of the list. */
export const ListAudit = AuditFilter.extend({
  limit: wholeNumber(1, MAX_LIMIT).optional().describe('The maximum to return, 50 by default; not for CSV.'),
  cursor: z.string().max(400).optional().describe('The `nextCursor` of the previous page.'),
  format: z.enum(['json', 'csv']).optional().describe('`csv` for a file.'),
})
export type ListAudit = z.input<typeof ListAudit>
