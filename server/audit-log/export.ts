import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { csvFile } from '../http/csv'
import { parseInput } from '../parse'
import { type AuditEntry, readEntries } from './list'
import { ListAudit } from './schema'

/** The lines of one file: few enough for a spreadsheet and for memory. */
const MAX = 5_000

const COLUMNS: [name: string, of: (entry: AuditEntry) => string | null][] = [
  ['id', ({ id }) => id],
  ['at', ({ at }) => at],
  ['actorKind', ({ actor }) => actor.kind],
  ['actorId', ({ actor }) => actor.id],
  ['actor', ({ actor }) => actor.name],
  ['action', ({ action }) => action],
  ['thingKind', ({ thing }) => thing.kind],
  ['thingId', ({ thing }) => thing.id],
  ['thing', ({ thing }) => thing.name],
  ['details', ({ details }) => (Object.keys(details).length > 0 ? JSON.stringify(details) : null)],
  ['requestId', ({ requestId }) => requestId],
  ['address', ({ address }) => address],
]

/**
 * The newest matching entries, as CSV with a header, at most 5,000; ignores `limit`. Escapes text that a spreadsheet
 * would treat as a formula.
 * @throws AppError INVALID_INPUT
 */
export async function exportAudit(
  ctx: ServiceContext,
  input: unknown,
): Promise<{ csv: string; nextCursor: string | null }> {
  authorize(ctx, 'audit:read')
  const { limit: _limit, cursor, format: _format, ...filter } = parseInput(ListAudit, input)
  const { entries, nextCursor } = await readEntries(ctx, filter, MAX, cursor)
  return { csv: csvFile(entries, COLUMNS), nextCursor }
}
