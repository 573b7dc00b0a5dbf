import { sql } from 'drizzle-orm'
import { index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { moment } from './columns'

/**
 * One uploaded file; its bytes lie in the file storage under (tenant, id). No foreign keys: the row has to
 * outlive its run and its tenant until the sweep has removed the bytes, or nobody would know of them.
 */
export const files = pgTable(
  'files',
  {
    tenantId: text().notNull(),
    id: uuid().notNull(),
    /** The run it belongs to; null until a start has claimed it. */
    runId: text(),
    /** As the sender wrote it: data, never a path. */
    name: text().notNull(),
    declaredType: text().notNull(),
    /** What the bytes look like; the only type it is ever served as. */
    sniffedType: text().notNull(),
    size: integer().notNull(),
    /** In hex. */
    sha256: text().notNull(),
    createdAt: moment().notNull(),
    /** Set in the transaction that makes the run. A row without it is an upload whose start never came to be. */
    claimedAt: moment(),
    /** Set before the bytes are removed, so that no start can claim a file that is half gone. */
    condemnedAt: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    index('files_by_run').on(t.tenantId, t.runId),
    index('files_unclaimed').on(t.createdAt).where(sql`claimed_at is null`),
    index('files_condemned').on(t.condemnedAt).where(sql`condemned_at is not null`),
  ],
)
