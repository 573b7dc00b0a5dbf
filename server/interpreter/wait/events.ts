import { setTimeout as sleep } from 'node:timers/promises'
import { and, asc, eq, gt, gte, inArray, isNull, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import { isUnavailable } from '@/db/index'
import { events } from '@/db/schema/events'
import { pauses, runs, stepRecords, walks } from '@/db/schema/runs'
import { forEachAtOnce } from '@/lib/for-each-at-once'
import {
  isInTransaction,
  type ServiceContext,
  type Sweep,
  systemContext,
  type TransactionContext,
  withTransaction,
} from '../../context'
import { database } from '../../database'
import type { EventRules, EventValue } from '../../definition/event'
import { looksLike, spellings } from '../../definition/spellings'
import { fairOrder } from '../../query/fair-order'
import { pauseIs, recordOfPause } from '../../run-store/conditions'
import { hold } from '../../run-store/held'
import { matchesEvent } from '../flow/match-event'
import { lookSoonWith } from '../notice/timers'
import { noteLooked } from '../write/marks'
import { continueWalk } from '../write/request'
import { storeAnswer } from '../write/store-answer'

/** How many events to read at a time, and how many bytes of them. */
const PAGE = 500
const PAGE_BYTES = 2 * 1024 * 1024
const BATCH = 200
const AT_ONCE = 4
/**
 * How often, and after how long, a wait is checked again while the database is unavailable. The sweep takes over then.
 */
const LOOKS = 6
const AGAIN_MS = 1_000
/** By then the process that opened the wait has checked it. */
const OVERDUE_MS = 5_000

/** A pause that waits for an event. */
interface Waiting {
  tenantId: string
  runId: string
  id: string
}

type EventRow = typeof events.$inferSelect
type Wait = NonNullable<Awaited<ReturnType<typeof findWait>>>

/**
 * Checks the events that existed before a wait, and then those that are being delivered, oldest first, and answers the
 * wait with the first that matches. No event can be missed: the wait is committed before this check, and an event is
 * committed before its delivery checks the waits, so whichever commits last finds the other. If the process dies in
 * between, the wait is still marked as unchecked, and the event is delivered again until its delivery has finished.
 * @param news events that may be new to a wait that was checked before: the one being delivered, or all those received
 * by a time and not delivered yet
 */
export async function lookForEvents(
  ctx: ServiceContext,
  waiting: Waiting,
  news: { delivered?: EventRow; until?: Date } = {},
): Promise<void> {
  const { delivered, until } = news
  const wait = await findWait(ctx, waiting)
  if (!wait) return
  // Usually the first event matches or none does, so the others are read only if this one matches.
  if (wait.looked && !until && !(delivered && fits(wait, delivered))) return
  const fresh = delivered ? or(isNull(events.deliveredAt), eq(events.seq, delivered.seq)) : isNull(events.deliveredAt)
  const which = and(wait.looked ? fresh : undefined, until && lte(events.receivedAt, until))
  for (let after = 0; ; ) {
    const page = await readEvents(ctx, wait, after, which)
    for (const { row } of page) {
      if (matchesEvent(wait.rules, eventValueOf(row)) && (await answerWith(ctx, wait, row))) return
    }
    const last = page.at(-1)
    if (!last) break
    after = last.row.seq
    if (page.length < PAGE && last.bytes <= PAGE_BYTES) break
  }
  if (!wait.looked && !until) await noteLooked(ctx, wait)
}

/** Checks again after an outage of the database, which usually lasts only seconds. */
async function lookInTime(ctx: ServiceContext, waiting: Waiting): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await lookForEvents(ctx, waiting)
    } catch (err) {
      if (!isUnavailable(err) || tries === LOOKS) throw err
      await sleep(AGAIN_MS * tries, undefined, { ref: false })
    }
  }
}

lookSoonWith((ctx, waiting) => {
  const { log, now } = ctx
  // The transaction has ended by now.
  const db = isInTransaction(ctx) ? database().db : ctx.db
  lookInTime(systemContext({ tenantId: waiting.tenantId, db, log, now }), waiting).catch((err: unknown) => {
    log.warn({ err, runId: waiting.runId }, 'could not check earlier events for a wait; the next sweep does it')
  })
})

/** Checks the waits that their process did not reach, taking tenants in turn. */
export async function lookAgain({ db, log, now }: Sweep): Promise<void> {
  const overdue = new Date(now().getTime() - OVERDUE_MS)
  const left = await db
    .select({ tenantId: pauses.tenantId, runId: pauses.runId, id: pauses.id })
    .from(pauses)
    .where(and(sql`${pauses.looked} = false and ${pauses.answeredAt} is null`, lt(pauses.createdAt, overdue)))
    .orderBy(fairOrder(pauses.tenantId, pauses.createdAt), asc(pauses.createdAt))
    .limit(BATCH)
  await forEachAtOnce(left, AT_ONCE, (waiting) =>
    lookForEvents(systemContext({ tenantId: waiting.tenantId, db, log, now }), waiting).catch((err: unknown) => {
      log.error({ err, ...waiting }, 'could not check earlier events for a wait')
    }),
  )
}

/** The form of an event that steps see. */
function eventValueOf({ id, name, key, data, receivedAt }: EventRow): EventValue {
  return { id, name, key, data, receivedAt: receivedAt.toISOString() }
}

async function findWait(ctx: ServiceContext, { tenantId, runId, id }: Waiting) {
  const [found] = await ctx.db
    .select({
      pause: pauses,
      runFrom: sql<string>`coalesce(${runs.writtenAt}, ${runs.startTime})`,
      stepFrom: stepRecords.startTime,
      epoch: walks.epoch,
    })
    .from(pauses)
    .innerJoin(runs, and(eq(runs.tenantId, pauses.tenantId), eq(runs.id, pauses.runId)))
    .innerJoin(
      walks,
      and(eq(walks.tenantId, pauses.tenantId), eq(walks.runId, pauses.runId), eq(walks.branch, pauses.branch)),
    )
    .leftJoin(stepRecords, recordOfPause)
    .where(and(pauseIs({ tenantId, runId }, id), isNull(pauses.answeredAt)))
  if (!found || found.pause.eventName === null || found.pause.eventRules === null) return null
  const { branch, stepId, eventName: name, eventKey: key, looked, createdAt } = found.pause
  const rules: EventRules = found.pause.eventRules
  const since = rules.since === 'run' ? new Date(found.runFrom) : (found.stepFrom ?? createdAt)
  const { epoch } = found
  return { tenantId, runId, id, branch, stepId, epoch, name, key, rules, since, looked: looked === true }
}

/** Whether a wait takes an event with its name, unless it took the event before. */
function fits(wait: Wait, row: EventRow): boolean {
  if (row.receivedAt < wait.since || (wait.key !== null && !looksLike(wait.key, row.key ?? ''))) return false
  return matchesEvent(wait.rules, eventValueOf(row))
}

/** The next events, with the bytes up to each; at least one. */
async function readEvents(ctx: ServiceContext, wait: Wait, after: number, which: SQL | undefined) {
  const size = sql<number>`pg_column_size(${events.data})`
  const ids = ctx.db
    .select({
      id: events.id,
      bytes: sql<number>`sum(${size}) over (order by ${events.seq})`.as('bytes'),
      own: size.as('own'),
    })
    .from(events)
    .where(
      and(
        eq(events.tenantId, wait.tenantId),
        eq(events.name, wait.name),
        wait.key === null ? undefined : inArray(events.key, spellings(wait.key)),
        gt(events.seq, after),
        gte(events.receivedAt, wait.since),
        which,
        sql`not ${takenBy(wait, sql`${events.id}`)}`,
      ),
    )
    .orderBy(asc(events.seq))
    .limit(PAGE)
    .as('page')
  const rows = await ctx.db
    .select({ row: events, bytes: ids.bytes })
    .from(ids)
    .innerJoin(events, and(eq(events.tenantId, wait.tenantId), eq(events.id, ids.id)))
    .where(sql`${ids.bytes} - ${ids.own} <= ${PAGE_BYTES}`)
    .orderBy(asc(events.seq))
  return rows.map(({ row, bytes }) => ({ row, bytes: Number(bytes) }))
}

/** Whether the step took an event before: in an earlier visit, or in another branch. */
function takenBy({ tenantId, runId, stepId }: Wait, eventId: SQL): SQL {
  return sql`exists (
    select from ${pauses} p
    where p.tenant_id = ${tenantId} and p.run_id = ${runId} and p.step_id = ${stepId} and p.event_id = ${eventId})`
}

/**
 * Answers the wait, unless it waits for other events now: its run was moved, and the process that moved it looks again.
 * @returns false if the step has taken the event in the meantime
 */
async function answerWith(ctx: ServiceContext, wait: Wait, row: EventRow): Promise<boolean> {
  const { tenantId, db, log, now } = ctx
  return withTransaction(systemContext({ tenantId, db, log, now }, row.postedBy), async (transaction) => {
    const tx = await hold(transaction, wait)
    const now = await waitNow(tx, wait, row.id)
    if (now.isTaken) return false
    if (!now.isSame) return true
    const status = await storeAnswer(tx, wait, wait.id, { event: eventValueOf(row) }, { eventId: row.id })
    // Otherwise the wait was answered first by other means.
    if (status !== null) await continueWalk(tx, wait)
    return true
  })
}

async function waitNow(
  tx: TransactionContext,
  wait: Wait,
  eventId: string,
): Promise<{ isTaken: boolean; isSame: boolean }> {
  const { tenantId, runId, id, name, key } = wait
  const [found] = await tx.db
    .select({
      isTaken: sql<boolean>`${takenBy(wait, sql`${eventId}`)}`,
      isSame: sql<boolean>`exists (
        select from ${pauses} p
        where p.tenant_id = ${tenantId} and p.run_id = ${runId} and p.id = ${id} and p.event_name = ${name}
          and p.event_key is not distinct from ${key} and p.event_rules = ${JSON.stringify(wait.rules)}::jsonb)`,
    })
    .from(sql`(select 1) one`)
  return { isTaken: found?.isTaken === true, isSame: found?.isSame === true }
}
