import { and, asc, eq, gt, gte, isNull, or, type SQL, sql } from 'drizzle-orm'
import { events } from '@/db/schema/events'
import { pauses, runs } from '@/db/schema/runs'
import {
  isInTransaction,
  type ServiceContext,
  type Sweep,
  systemContext,
  type TransactionContext,
  withTransaction,
} from '../context'
import type { EventRules, EventValue } from '../definition/event'
import { dueBy } from './due-timer'
import { matchesEvent } from './match-event'
import { lockRun } from './place'
import type { NewPause } from './plan'
import type { WalkRef } from './receipt'
import { pauseIs } from './row-is'
import { storeAnswer } from './store-answer'
import { wakeWalk } from './wake'

/** How many events to read at once: each may be large. */
const PAGE = 20
const BATCH = 200
/** By then the process that armed a wait has looked itself. */
export const OVERDUE_MS = 5_000

/** A pause that waits for an event. */
export interface Waiting {
  tenantId: string
  runId: string
  id: string
}

type EventRow = typeof events.$inferSelect
type Wait = NonNullable<Awaited<ReturnType<typeof findWait>>>

/**
 * Looks at the events that were there before a wait, and then at those that are being delivered, oldest first, and answers
 * it with the first that it takes.
 *
 * Nothing can come between a wait and an event. The wait is committed before this looks, and an event is committed before
 * its delivery looks for waits: whichever commits last finds the other. A process that dies in between is no loss: the
 * wait says that nobody has looked, and an event is delivered until its delivery has ended.
 * @param delivered an event that is being delivered
 */
export async function lookForEvents(ctx: ServiceContext, waiting: Waiting, delivered?: EventRow): Promise<void> {
  const wait = await findWait(ctx, waiting)
  if (!wait) return
  // Once it has looked, only what has come since can be new to it. Most waits take most events at once or not at all, so
  // the others are read only if this one would be taken.
  if (wait.looked && !(delivered && fits(wait, delivered))) return
  const which = wait.looked && delivered ? or(isNull(events.deliveredAt), eq(events.seq, delivered.seq)) : undefined
  for (let after = 0; ; ) {
    const page = await readEvents(ctx, wait, after, which)
    for (const row of page) {
      if (matchesEvent(wait.rules, eventValueOf(row)) && (await take(ctx, wait, row))) return
    }
    const last = page.at(-1)
    if (!last || page.length < PAGE) break
    after = last.seq
  }
  if (!wait.looked)
    await ctx.db
      .update(pauses)
      .set({ looked: true })
      .where(and(pauseIs(wait, wait.id), isNull(pauses.answeredAt)))
}

/** Watches a pause that was just committed: for its time, and for the events that were there before it. */
export function watchPause(ctx: ServiceContext, { tenantId, runId }: WalkRef, { id, dueAt, event }: NewPause): void {
  if (dueAt) dueBy(dueAt)
  if (!event) return
  // Its transaction is over, so it cannot look any more.
  if (isInTransaction(ctx)) {
    dueBy(new Date(ctx.now().getTime() + OVERDUE_MS))
    return
  }
  lookForEvents(ctx, { tenantId, runId, id }).catch((err: unknown) => {
    ctx.log.warn({ err, runId }, 'a wait could not look at the events before it; the next sweep does it')
  })
}

/** Looks for the waits whose process did not get to it. */
export async function lookAgain({ db, log, now }: Sweep): Promise<void> {
  const overdue = new Date(now().getTime() - OVERDUE_MS)
  const left = await db
    .select({ tenantId: pauses.tenantId, runId: pauses.runId, id: pauses.id })
    .from(pauses)
    .where(and(sql`${pauses.looked} = false and ${pauses.answeredAt} is null`, sql`${pauses.createdAt} < ${overdue}`))
    .orderBy(asc(pauses.createdAt))
    .limit(BATCH)
  for (const waiting of left) {
    const ctx = systemContext({ tenantId: waiting.tenantId, db, log, now })
    await lookForEvents(ctx, waiting).catch((err: unknown) => {
      log.error({ err, ...waiting }, 'a wait could not look at the events before it')
    })
  }
}

/** An event as steps see it. */
export function eventValueOf({ id, name, key, data, receivedAt }: EventRow): EventValue {
  return { id, name, key, data, receivedAt: receivedAt.toISOString() }
}

async function findWait(ctx: ServiceContext, { tenantId, runId, id }: Waiting) {
  const [found] = await ctx.db
    .select({ pause: pauses, startTime: runs.startTime })
    .from(pauses)
    .innerJoin(runs, and(eq(runs.tenantId, pauses.tenantId), eq(runs.id, pauses.runId)))
    .where(and(pauseIs({ tenantId, runId }, id), isNull(pauses.answeredAt)))
  if (!found || found.pause.eventName === null || found.pause.eventRules === null) return null
  const { branch, stepId, eventName: name, eventKey: key, looked, createdAt } = found.pause
  const rules: EventRules = found.pause.eventRules
  const since = rules.since === 'run' ? found.startTime : createdAt
  return { tenantId, runId, id, branch, stepId, name, key, rules, since, looked: looked === true }
}

/** Whether a wait takes an event that has its name, unless it has taken it before. */
function fits(wait: Wait, row: EventRow): boolean {
  if (row.receivedAt < wait.since || (wait.key !== null && wait.key !== row.key)) return false
  return matchesEvent(wait.rules, eventValueOf(row))
}

function readEvents(ctx: ServiceContext, wait: Wait, after: number, which: SQL | undefined): Promise<EventRow[]> {
  return ctx.db
    .select()
    .from(events)
    .where(
      and(
        eq(events.tenantId, wait.tenantId),
        eq(events.name, wait.name),
        wait.key === null ? undefined : eq(events.key, wait.key),
        gt(events.seq, after),
        gte(events.receivedAt, wait.since),
        which,
        sql`not ${takenBy(wait, sql`${events.id}`)}`,
      ),
    )
    .orderBy(asc(events.seq))
    .limit(PAGE)
}

/** Whether the step has taken an event before: in an earlier visit, or in another branch. */
function takenBy({ tenantId, runId, stepId }: Wait, eventId: SQL): SQL {
  return sql`exists (
    select from ${pauses} p
    where p.tenant_id = ${tenantId} and p.run_id = ${runId} and p.step_id = ${stepId} and p.event_id = ${eventId})`
}

/** Answers the wait. @returns false if the step has taken the event meanwhile */
async function take(ctx: ServiceContext, wait: Wait, row: EventRow): Promise<boolean> {
  const { tenantId, db, log, now } = ctx
  return withTransaction(systemContext({ tenantId, db, log, now }, row.postedBy), async (tx) => {
    await lockRun(tx, wait)
    if (await isTaken(tx, wait, row.id)) return false
    const status = await storeAnswer(tx, wait, wait.id, { event: eventValueOf(row) }, row.id)
    // Otherwise something else came first, and it waits no more.
    if (status !== null) await wakeWalk(tx, wait)
    return true
  })
}

async function isTaken(tx: TransactionContext, wait: Wait, eventId: string): Promise<boolean> {
  const [found] = await tx.db
    .select({ taken: sql<boolean>`${takenBy(wait, sql`${eventId}`)}` })
    .from(sql`(select 1) one`)
  return found?.taken === true
}
