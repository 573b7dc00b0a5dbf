import { sql } from 'drizzle-orm'
import {
  doublePrecision,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import type { Tried, TurnAnswer, TurnAsked, Usage } from '../../server/definition/agent'
import type { CallDecision, CallPolicy } from '../../server/definition/approval'
import type { JsonValue } from '../../server/definition/json'
import { change, json, moment, written } from './columns'
import { runs } from './runs'
import { threads } from './threads'

/**
 * The turns of agents. In a run there is one for each visit of a `call-agent` step, whichever attempts work at it. One of
 * invoke or chat is held by the process that serves the request, until it ends or becomes a run. An agent that is handed a
 * message has a turn of its own, which belongs to that one. A turn that has recorded no call has no row, unless it is a
 * stream or has files.
 */
export const agentTurns = pgTable(
  'agent_turns',
  {
    tenantId: text().notNull(),
    id: text().notNull(),
    /**
     * Of an agent that was handed a message: the turn that a step or a caller began. Its id is that of the turn which
     * handed it over, a `-` and the number of the call.
     */
    rootId: text(),
    /** The visit; null while it is outside of runs. A turn with a root has only the run. */
    runId: text(),
    branch: text(),
    stepId: text(),
    visit: integer(),
    /** Of a request with an `Idempotency-Key`: what its repeat has in common with it. */
    key: text(),
    /** The process that holds a turn outside of runs, and until when, if it does not prolong this. */
    owner: text(),
    leasedUntil: moment(),
    /** What invoke or chat was asked, and by whom. */
    request: written<TurnAsked>(),
    /** What the caller of invoke or chat gets; null until it is known. */
    answer: written<TurnAnswer>(),
    /** The subject of the token that asked; null for members and keys, and in runs that began otherwise. */
    subject: text(),
    /** Its place in the thread, if others can see it under way. */
    ticket: integer(),
    agentId: text().notNull(),
    /**
     * The agent's version, and those of its tools by id, which stay the same for the whole turn. A copy from another run
     * has no tools until this run records a call: it takes the versions of that time.
     */
    version: integer().notNull(),
    tools: json<Record<string, string | number>>(),
    /** The thread that it continues, or began: a new one exists once the turn is done. */
    threadId: text(),
    /** The thread's last message when the turn began; the model sees no later ones. */
    historyTo: integer().notNull(),
    /**
     * A failed turn ended with an answer that did not count. One that was cut short is `working`, or `waiting` if it has
     * asked people in a thread that others may continue.
     */
    state: text({ enum: ['working', 'waiting', 'done', 'failed'] }).notNull(),
    errorCode: text(),
    /** The attempt of the visit that recorded the latest call; 0 in a copy, and if an earlier release recorded it. */
    attempt: integer().notNull().default(0),
    /** The sums of its calls. */
    usage: json<Usage>().notNull(),
    /** Null without prices. */
    cost: doublePrecision(),
    startedAt: moment().notNull(),
    endedAt: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    uniqueIndex('agent_turns_visit').on(t.tenantId, t.runId, t.branch, t.stepId, t.visit),
    uniqueIndex('agent_turns_key').on(t.tenantId, t.key).where(sql`key is not null`),
    index('agent_turns_held').on(t.leasedUntil).where(sql`leased_until is not null`),
    index('agent_turns_waiting').on(t.tenantId, t.threadId).where(sql`state = 'waiting'`),
    index('agent_turns_unanswered')
      .on(t.tenantId, t.threadId)
      .where(sql`request is not null and run_id is not null and answer is null and thread_id is not null`),
    index('agent_turns_outside').on(t.startedAt).where(sql`run_id is null`),
    index('agent_turns_of_subject').on(t.tenantId, t.subject).where(sql`subject is not null`),
    index('agent_turns_of_root').on(t.tenantId, t.rootId).where(sql`root_id is not null`),
    index('agent_turns_of_agent').on(t.tenantId, t.agentId, t.startedAt, t.id),
    index('agent_turns_of_thread').on(t.tenantId, t.threadId).where(sql`thread_id is not null`),
    foreignKey({
      columns: [t.tenantId, t.runId],
      foreignColumns: [runs.tenantId, runs.id],
      name: 'agent_turns_run_fk',
    }).onDelete('cascade'),
    foreignKey({
      columns: [t.tenantId, t.threadId],
      foreignColumns: [threads.tenantId, threads.id],
      name: 'agent_turns_thread_fk',
    }).onDelete('cascade'),
    foreignKey({
      columns: [t.tenantId, t.rootId],
      foreignColumns: [t.tenantId, t.id],
      name: 'agent_turns_root_fk',
    }).onDelete('cascade'),
  ],
)

/** The model calls and tool calls of turns that have ended. A call is written once, and never made again. */
export const agentCalls = pgTable(
  'agent_calls',
  {
    tenantId: text().notNull(),
    turnId: text().notNull(),
    /** From 1. A model's call has the next free number, and the calls that it asks for have the numbers after it. */
    seq: integer().notNull(),
    kind: text({ enum: ['model', 'tool'] }).notNull(),
    /** The model, or the id of the tool. */
    name: text().notNull(),
    /** Of a model: what it said. Of a tool: the result that the model gets. */
    output: written<JsonValue>().notNull(),
    /** Of an answer: what becomes of each of its calls; null if no call of the agent may need a decision. */
    policy: written<CallPolicy[]>(),
    /** What people decided about a tool call. */
    decision: written<CallDecision>(),
    /** Of an answer copied from another run: what the idempotency keys of its calls begin with. */
    keyBase: text(),
    usage: json<Usage>(),
    cost: doublePrecision(),
    /** Of a model: who runs it, its place among the agent's fall-back models, and what was tried before it. */
    provider: text(),
    fallback: integer(),
    tried: json<Tried[]>(),
    /** Set if the answer did not count. */
    errorCode: text(),
    startedAt: moment().notNull(),
    endedAt: moment().notNull(),
    change: change(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.turnId, t.seq] }),
    foreignKey({
      columns: [t.tenantId, t.turnId],
      foreignColumns: [agentTurns.tenantId, agentTurns.id],
      name: 'agent_calls_turn_fk',
    }).onDelete('cascade'),
  ],
)
