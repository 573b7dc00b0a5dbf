import { sql } from 'drizzle-orm'
import { foreignKey, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { GivenAnswer, Refusal } from '../../server/definition/run'
import { json, moment } from './columns'
import { pauses, runs } from './runs'

/**
 * Held answers: people gave them in the dashboard and may still undo them. The run does not have them yet: either the
 * person or the transaction that submits the answer deletes the row, whichever comes first.
 */
export const heldAnswers = pgTable(
  'held_answers',
  {
    tenantId: text().notNull(),
    runId: text().notNull(),
    pauseId: text().notNull(),
    /** A member's id. Where votes decide, several may hold one. */
    person: text().notNull(),
    answer: json<GivenAnswer>().notNull(),
    heldAt: moment().notNull(),
    until: moment().notNull(),
    /** Why it could not be submitted; retained until its person has read it. Null while it is held. */
    refused: json<Refusal>(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.pauseId, t.person] }),
    foreignKey({
      columns: [t.tenantId, t.runId, t.pauseId],
      foreignColumns: [pauses.tenantId, pauses.runId, pauses.id],
      name: 'held_answers_pause_fk',
    }).onDelete('cascade'),
    index('held_answers_due').on(t.until).where(sql`refused is null`),
    index('held_answers_refused').on(t.tenantId, t.person).where(sql`refused is not null`),
  ],
)

/** The member who takes care of a task. Others may still answer. */
export const taskClaims = pgTable(
  'task_claims',
  {
    tenantId: text().notNull(),
    runId: text().notNull(),
    pauseId: text().notNull(),
    /** A member's id. */
    person: text().notNull(),
    /** Who set the claim: the member, or the person who gave it to them. */
    claimedBy: text().notNull(),
    claimedAt: moment().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.pauseId] }),
    foreignKey({
      columns: [t.tenantId, t.runId, t.pauseId],
      foreignColumns: [pauses.tenantId, pauses.runId, pauses.id],
      name: 'task_claims_pause_fk',
    }).onDelete('cascade'),
  ],
)

/** What people say to each other about a run. Not part of the run: an ended run takes comments too. */
export const runComments = pgTable(
  'run_comments',
  {
    tenantId: text().notNull(),
    id: text().notNull(),
    runId: text().notNull(),
    /** A member's id. */
    author: text().notNull(),
    text: text().notNull(),
    createdAt: moment().notNull(),
    /** The task that its author answered with it. */
    pauseId: text(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.id] }),
    foreignKey({
      columns: [t.tenantId, t.runId],
      foreignColumns: [runs.tenantId, runs.id],
      name: 'run_comments_run_fk',
    }).onDelete('cascade'),
  ],
)
