import { bigint, foreignKey, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { AskedBefore } from '../../server/definition/run'
import { moment, written } from './columns'
import { runs } from './runs'
import { workflowVersions } from './workflows'

/** A move of an open run to another version of its workflow, between two attempts. The last one led to the run's version. */
export const runMoves = pgTable(
  'run_moves',
  {
    tenantId: text().notNull(),
    runId: text().notNull(),
    /** 1, 2, 3 of the run. */
    n: integer().notNull(),
    workflowId: text().notNull(),
    fromVersion: integer().notNull(),
    toVersion: integer().notNull(),
    /** The `seq` of the run's newest record at the time; 0 without any. */
    afterSeq: bigint({ mode: 'number' }).notNull(),
    /** What its tasks asked before, where they were asked again; null if none was. */
    asked: written<AskedBefore[]>(),
    /** Of the moves that were made together. */
    batch: text().notNull(),
    movedBy: text().notNull(),
    reason: text(),
    movedAt: moment().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.n] }),
    foreignKey({
      columns: [t.tenantId, t.runId],
      foreignColumns: [runs.tenantId, runs.id],
      name: 'run_moves_run_fk',
    }).onDelete('cascade'),
    foreignKey({
      columns: [t.tenantId, t.workflowId, t.fromVersion],
      foreignColumns: [workflowVersions.tenantId, workflowVersions.workflowId, workflowVersions.version],
      name: 'run_moves_from_fk',
    }),
    foreignKey({
      columns: [t.tenantId, t.workflowId, t.toVersion],
      foreignColumns: [workflowVersions.tenantId, workflowVersions.workflowId, workflowVersions.version],
      name: 'run_moves_to_fk',
    }),
    index('run_moves_batch').on(t.tenantId, t.batch),
    index('run_moves_from').on(t.tenantId, t.workflowId, t.fromVersion),
  ],
)
