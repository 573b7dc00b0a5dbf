import { sql } from 'drizzle-orm'
import { index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { moment } from './columns'

/**
 * One uploaded file. Its bytes are in the file storage under (tenant, id). No foreign keys: the row must outlive its
 * run and its tenant until the sweep has removed the bytes, or nothing would point to them.
 */
export const files = pgTable(
  'files',
  {
    tenantId: text().notNull(),
    id: uuid().notNull(),
    /** The run it belongs to. Null until a start claims it. */
    runId: text(),
    /** The thread it belongs to, in place of a run. Null until a message takes it. */
    threadId: text(),
    /** As the sender wrote it: never used as a path. */
    name: text().notNull(),
    declaredType: text().notNull(),
    /** The type detected from the bytes, and the only type the file is served as. */
    sniffedType: text().notNull(),
    size: integer().notNull(),
    /** In hex. */
    sha256: text().notNull(),
    createdAt: moment().notNull(),
    /**
     * A hash of who uploads it before any run or message; null if it came with a start or an answer. For a visitor of a
     * start link, a hash of the link and, until a run has the file, one of the address. `sha256` is '' until all of it is
     * there.
     */
    uploadedBy: text(),
    /** Set in the transaction that creates the run, or saves the message: 'infinity' then. A row without it is an upload that nobody took. */
    claimedAt: moment(),
    /** Set before the bytes are removed, so that no start can claim a half-deleted file. */
    condemnedAt: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    index('files_by_run').on(t.tenantId, t.runId),
    index('files_by_thread').on(t.tenantId, t.threadId).where(sql`thread_id is not null`),
    index('files_unclaimed').on(t.createdAt).where(sql`claimed_at is null`),
    index('files_condemned').on(t.condemnedAt).where(sql`condemned_at is not null`),
  ],
)
