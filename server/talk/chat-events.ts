import { setTimeout as sleep } from 'node:timers/promises'
import { and, asc, desc, eq, gt, inArray, isNull, lt, or, sql } from 'drizzle-orm'
import { pauses } from '@/db/schema/runs'
import { chatEvents } from '@/db/schema/threads'
import { agentTurns } from '@/db/schema/turns'
import { isAtWork } from '../agents/turn-lease'
import type { ServiceContext } from '../context'
import type { TurnEventName } from '../definition/agent'
import type { JsonObject } from '../definition/json'
import type { ServerSentEvent } from '../http/sse'
import { endsStream, isPiece, isQuestion, isWaiting, LAST, type TurnEvent } from './answer-events'
import { type EventPlace, LIFETIME_MS, type Place } from './place'
import { type Following, turnAt, whatFollows } from './what-follows'

const FLUSH_MS = 100
/** How long a reader waits before it looks again. */
export const POLL_MS = 250

interface StoredEvent extends TurnEvent {
  seq: number
}

/**
 * The events of one turn. They are sent immediately and stored in small batches. A client that loses its stream can
 * continue from the stored events, so the turn continues without it.
 */
export class TurnLog {
  private seq = 0
  private readonly live: StoredEvent[] = []
  private unsaved: StoredEvent[] = []
  private saving: Promise<void> = Promise.resolve()
  private timer: NodeJS.Timeout | undefined
  private wake: () => void = () => {}
  /** Whether a run continues the turn: what follows is in its rows. */
  private isLeft = false

  constructor(
    private readonly ctx: ServiceContext,
    readonly place: Place,
  ) {}

  add(event: TurnEvent): void {
    this.seq += 1
    const added = { seq: this.seq, ...event }
    this.live.push(added)
    this.unsaved.push(added)
    this.timer ??= setTimeout(() => this.flush(), FLUSH_MS)
    this.wake()
  }

  /** Resolves once all events so far are stored, or failed to be. */
  async flush(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    const rows = this.unsaved.map((event) => ({ ...this.place, ...event }))
    this.unsaved = []
    if (rows.length > 0) {
      this.saving = this.saving
        .then(() => storeEvents(this.ctx, rows))
        .catch((err: unknown) => this.ctx.log.warn({ err }, 'could not store the events of a turn'))
    }
    await this.saving
  }

  /** Notes that a run continues the turn. */
  async leave(): Promise<void> {
    await this.flush()
    this.isLeft = true
    this.wake()
  }

  /** Streams the events as they happen, until the last one or until the reader disconnects. */
  async *read(signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
    const leave = () => this.wake()
    signal.addEventListener('abort', leave)
    try {
      for (let at = 0; !signal.aborted; ) {
        const next = this.live[at]
        if (!next && this.isLeft) {
          yield* replay(this.ctx, { ...this.place, seq: at }, signal)
          return
        }
        if (!next) {
          await new Promise<void>((resolve) => {
            this.wake = resolve
          })
          continue
        }
        at += 1
        // Store before sending the last event: a client that saw it may immediately ask any process for the next one.
        if (endsStream(next.event)) await this.flush()
        yield toServerSent(this.place, next)
        if (endsStream(next.event)) return
      }
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }
}

/** Streams the stored events after a position, then new ones, whichever process runs the turn. */
export async function* replay(
  ctx: ServiceContext,
  after: EventPlace,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  const { threadId, ticket } = after
  /** Whether the last event is a piece of an answer. */
  let speaks = after.seq > 0 && (await mayBePiece(ctx, after))
  for (let seen = after.seq; !signal.aborted; ) {
    // Check this before reading: what a turn that ends in between has stored is read, too.
    const working = await isAtWork(ctx, threadId, ticket)
    const events = await readEvents(ctx, { threadId, ticket, seq: seen })
    for (const event of await withoutAnswered(ctx, after, events)) {
      yield toServerSent(after, event)
      if (endsStream(event.event)) return
      speaks = isPiece(event.event)
    }
    seen = events.at(-1)?.seq ?? seen
    if (!working && events.length === 0) {
      const last = await lastEvent(ctx, { threadId, ticket }, LAST)
      // Others have stored the end before events that the process of the turn stored late, or never.
      if (last && last.seq <= seen) {
        yield toServerSent(after, last)
        return
      }
      const more = await whatFollows(ctx, { threadId, ticket }, signal, speaks)
      await storeNext(ctx, { threadId, ticket, seq: seen }, more)
      if (more.events.length > 0) continue
    }
    if (events.length === 0) await sleep(POLL_MS, undefined, { signal }).catch(() => {})
  }
}

/** Leaves out questions that are answered, and the ends for now after them. */
async function withoutAnswered(
  ctx: ServiceContext,
  place: Place,
  events: readonly StoredEvent[],
): Promise<StoredEvent[]> {
  const waits = events.filter(({ event }) => isWaiting(event))
  const last = waits.at(-1)
  if (!last) return [...events]
  const open = await openQuestions(ctx, place)
  const passed = open && (await isPresentWait(ctx, place, last.seq, open)) ? waits.at(-2) : last
  return events
    .filter(({ event, seq }) => !isQuestion(event) || seq > (passed?.seq ?? 0))
    .filter(({ event, data }) => !isQuestion(event) || isWaiting(event) || open?.ids.has(String(data.pauseId)))
    .map((event) => (isWaiting(event.event) ? { ...event, data: onlyOpen(event.data, open) } : event))
}

/** The body of 202 with the questions that are still open. */
function onlyOpen(data: JsonObject, open: OpenQuestions | null): JsonObject {
  if (!Array.isArray(data.pauseSignals)) return data
  const pauseSignals = data.pauseSignals.filter((one) => open?.ids.has((one as { id: string }).id))
  return { ...data, pauseSignal: pauseSignals[0] ?? null, pauseSignals }
}

/**
 * Stores what follows an event, unless another reader or the process of the turn has, or another run has taken the turn
 * up in the meantime.
 */
async function storeNext(
  { db, tenantId, now }: ServiceContext,
  { threadId, ticket, seq }: EventPlace,
  { events, runId }: Following,
): Promise<void> {
  if (events.length === 0) return
  const isSame = runId === undefined ? sql`true` : sql`exists (select from turn)`
  await db.execute(sql`
    with turn as materialized (
      select id from ${agentTurns} where tenant_id = ${tenantId} and thread_id = ${threadId} and ticket = ${ticket}::int
        and run_id is not distinct from ${runId ?? null}::text for share)
    insert into ${chatEvents} (tenant_id, thread_id, ticket, seq, event, data, created_at)
    select ${tenantId}, ${threadId}, ${ticket}::int, ${seq}::bigint + m.n, m.event->>'event', m.event->'data',
      ${now().toISOString()}::timestamptz
    from jsonb_array_elements(${JSON.stringify(events)}::jsonb) with ordinality m(event, n)
    where ${isSame} and not exists (
      select from ${chatEvents} e where e.tenant_id = ${tenantId} and e.thread_id = ${threadId}
        and e.ticket = ${ticket}::int and (e.seq > ${seq}::bigint or e.event = any(${sql.param(LAST)}::text[])))
    on conflict do nothing`)
}

/** Whether an event is a piece of an answer, as far as is known: one that was not stored may be. */
async function mayBePiece(ctx: ServiceContext, place: EventPlace): Promise<boolean> {
  const [row] = await ctx.db
    .select({ event: chatEvents.event })
    .from(chatEvents)
    .where(and(isOfTurn(ctx, place), eq(chatEvents.seq, place.seq)))
  return row === undefined || isPiece(row.event)
}

/** Another reader may have stored the same ones. */
async function storeEvents(
  { db, tenantId, now }: ServiceContext,
  events: readonly (StoredEvent & Place)[],
): Promise<void> {
  if (events.length === 0) return
  const createdAt = now()
  await db
    .insert(chatEvents)
    .values(events.map((event) => ({ tenantId, ...event, createdAt })))
    .onConflictDoNothing()
}

/**
 * Whether an event was sent, by a turn that answers in this form, and is still stored, and whether nothing follows it as
 * far as is known.
 */
export async function findEvent(
  ctx: ServiceContext,
  place: EventPlace,
  structured: boolean,
): Promise<{ last: boolean } | null> {
  const turn = await turnAt(ctx, place)
  if (turn && turn.structured !== structured) return null
  // 0 is the position before the first event, so it is valid as long as event 1 is stored.
  const seq = Math.max(1, place.seq)
  const rows = await ctx.db
    .select({ seq: chatEvents.seq, event: chatEvents.event })
    .from(chatEvents)
    .where(and(isOfTurn(ctx, place), or(eq(chatEvents.seq, seq), inArray(chatEvents.event, LAST))))
  const row = rows.find((stored) => stored.seq === seq)
  if (row && isWaiting(row.event)) {
    const open = await openQuestions(ctx, place)
    return { last: place.seq > 0 && open !== null && (await isPresentWait(ctx, place, seq, open)) }
  }
  if (row) return { last: place.seq > 0 && endsStream(row.event) }
  // The last event is stored after all others, so nothing the client could have seen is missing.
  if (rows.length > 0) return null
  // The event may have been sent before it was stored, by a process that has died.
  const isRecent = turn !== undefined && ctx.now().getTime() - turn.startedAt.getTime() < LIFETIME_MS
  const lives = isRecent || (await isAtWork(ctx, place.threadId, place.ticket))
  return lives ? { last: false } : null
}

interface OpenQuestions {
  runId: string
  ids: Set<string>
}

/** What a turn asks people at present; null if it does not wait for them. */
async function openQuestions(ctx: ServiceContext, place: Place): Promise<OpenQuestions | null> {
  const turn = await turnAt(ctx, place)
  if (turn?.status !== 'paused' || turn.runId === null) return null
  const rows = await ctx.db
    .select({ id: pauses.id })
    .from(pauses)
    .where(and(eq(pauses.tenantId, ctx.tenantId), eq(pauses.runId, turn.runId), isNull(pauses.answeredAt)))
  return { runId: turn.runId, ids: new Set(rows.map(({ id }) => id)) }
}

/** Whether an event that says that people are asked is the last, and every open question came before it. */
async function isPresentWait(
  ctx: ServiceContext,
  place: Place,
  seq: number,
  { runId, ids }: OpenQuestions,
): Promise<boolean> {
  if (((await lastEvent(ctx, place))?.seq ?? 0) > seq) return false
  const rows = await ctx.db
    .select({ data: chatEvents.data })
    .from(chatEvents)
    .where(and(isOfTurn(ctx, place), eq(chatEvents.event, 'approval.requested'), lt(chatEvents.seq, seq)))
  // Another run of the turn may have had a question of the same id.
  const asked = new Set(rows.filter(({ data }) => data.runId === runId).map(({ data }) => data.pauseId))
  return [...ids].every((id) => asked.has(id))
}

/** The position after the last stored event of a turn. */
export async function endOfEvents(ctx: ServiceContext, place: Place): Promise<EventPlace> {
  return { ...place, seq: (await lastEvent(ctx, place))?.seq ?? 0 }
}

async function lastEvent(
  ctx: ServiceContext,
  place: Place,
  among?: readonly TurnEventName[],
): Promise<StoredEvent | undefined> {
  const { seq, event, data } = chatEvents
  const [last] = await ctx.db
    .select({ seq, event, data })
    .from(chatEvents)
    .where(and(isOfTurn(ctx, place), among && inArray(event, [...among])))
    .orderBy(desc(seq))
    .limit(1)
  return last
}

async function readEvents(ctx: ServiceContext, after: EventPlace): Promise<StoredEvent[]> {
  const { seq, event, data } = chatEvents
  const rows = await ctx.db
    .select({ seq, event, data })
    .from(chatEvents)
    .where(and(isOfTurn(ctx, after), gt(chatEvents.seq, after.seq)))
    .orderBy(asc(chatEvents.seq))
    .limit(1000)
  return rows
}

function isOfTurn(ctx: ServiceContext, { threadId, ticket }: Place) {
  return and(eq(chatEvents.tenantId, ctx.tenantId), eq(chatEvents.threadId, threadId), eq(chatEvents.ticket, ticket))
}

function toServerSent({ threadId, ticket }: Place, { seq, event, data }: StoredEvent): ServerSentEvent {
  return { id: `${threadId}.${ticket}.${seq}`, event, data }
}
