import { sql } from 'drizzle-orm'
import { bigint, foreignKey, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { MessageContent, TurnEventName, TurnMetadata } from '../../server/definition/agent'
import type { JsonObject } from '../../server/definition/json'
import { agents } from './agents'
import { json, moment } from './columns'

/** A conversation with one agent. */
export const threads = pgTable(
  'threads',
  {
    tenantId: text().notNull(),
    id: text().notNull(),
    agentId: text().notNull(),
    /** The owner: the `sub` of the token that started it, or null when an API key did. */
    subject: text(),
    /** Tickets issued so far. Each turn draws one. */
    tickets: integer().notNull().default(0),
    /** When the latest ticket was drawn; null before the first one. */
    drawnAt: moment(),
    createdAt: moment().notNull().defaultNow(),
    updatedAt: moment().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    foreignKey({
      columns: [t.tenantId, t.agentId],
      foreignColumns: [agents.tenantId, agents.id],
      name: 'threads_agent_fk',
    }).onDelete('cascade'),
    index('threads_by_agent').on(t.tenantId, t.agentId, t.updatedAt.desc()),
    index('threads_of_subject').on(t.tenantId, t.subject).where(sql`subject is not null`),
  ],
)

/**
 * The turns that wait for a thread. The one with the lowest ticket is in progress. A row with an expired lease belongs
 * to a dead process; the next turn in line removes it, and with it that turn's right to save.
 */
export const threadTurns = pgTable(
  'thread_turns',
  {
    tenantId: text().notNull(),
    threadId: text().notNull(),
    ticket: integer().notNull(),
    leasedUntil: moment().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.threadId, t.ticket] }),
    foreignKey({
      columns: [t.tenantId, t.threadId],
      foreignColumns: [threads.tenantId, threads.id],
      name: 'thread_turns_thread_fk',
    }).onDelete('cascade'),
  ],
)

/** The messages, in order. A turn's messages are written together when it succeeds. */
export const messages = pgTable(
  'messages',
  {
    tenantId: text().notNull(),
    threadId: text().notNull(),
    seq: integer().notNull(),
    role: text({ enum: ['user', 'assistant', 'tool'] }).notNull(),
    /**
     * For `user`, a text with its data context. For the others, the parts of the model's message, including tool calls.
     */
    content: json<MessageContent>().notNull(),
    /** On the last message of a turn: provider, model, agent version and token usage. */
    metadata: json<TurnMetadata>(),
    /** On the first message of a turn: the run whose step sent it, if its workflow has sensitive fields. */
    runId: text(),
    createdAt: moment().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.threadId, t.seq] }),
    foreignKey({
      columns: [t.tenantId, t.threadId],
      foreignColumns: [threads.tenantId, threads.id],
      name: 'messages_thread_fk',
    }).onDelete('cascade'),
  ],
)

/** The events of a streamed turn, retained for an hour so that a broken stream can resume; in a run until an hour after it. */
export const chatEvents = pgTable(
  'chat_events',
  {
    tenantId: text().notNull(),
    threadId: text().notNull(),
    ticket: integer().notNull(),
    seq: bigint({ mode: 'number' }).notNull(),
    event: text().$type<TurnEventName>().notNull(),
    data: json<JsonObject>().notNull(),
    createdAt: moment().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.threadId, t.ticket, t.seq] }),
    foreignKey({
      columns: [t.tenantId, t.threadId],
      foreignColumns: [threads.tenantId, threads.id],
      name: 'chat_events_thread_fk',
    }).onDelete('cascade'),
    index('chat_events_age').on(t.createdAt),
  ],
)
