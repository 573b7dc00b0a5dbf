import { setTimeout as sleep } from 'node:timers/promises'
import { and, asc, desc, eq, gt, inArray, isNull, lt, or, sql } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { pauses } from '@/db/schema/runs'
import { chatEvents, threadTurns } from '@/db/schema/threads'
import { isAtWork } from '../agents/turn-lease'
import type { ServiceContext } from '../context'
import type { TurnEventName } from '../definition/agent'
import type { ServerSentEvent } from '../http/sse'
import { endsStream, isPiece, isQuestion, isWaiting, LAST, type TurnEvent } from './answer-events'
import type { EventPlace, Place } from './place'
import { LIFETIME_MS, turnAt, whatFollows } from './what-follows'

const FLUSH_MS = 100
/** How long a reader waits before it looks again. */
export const POLL_MS = 250

interface StoredEvent extends TurnEvent {
  seq: number
}

interface ReadEvent extends StoredEvent {
  createdAt: Date
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
      if (more.length > 0) continue
    }
    if (events.length === 0) await sleep(POLL_MS, undefined, { signal }).catch(() => {})
  }
}

/** Leaves out questions that are answered, and the ends for now after them. */
async function withoutAnswered(ctx: ServiceContext, place: Place, events: readonly ReadEvent[]): Promise<ReadEvent[]> {
  const waits = events.filter(({ event }) => isWaiting(event))
  const last = waits.at(-1)
  if (!last) return [...events]
  const passed = (await isPresentWait(ctx, place, last)) ? waits.at(-2) : last
  return events.filter(({ event, seq }) => !isQuestion(event) || seq > (passed?.seq ?? 0))
}

/** Stores what follows an event, unless another reader or the process of the turn has. */
async function storeNext(
  { db, tenantId, now }: ServiceContext,
  { threadId, ticket, seq }: EventPlace,
  more: readonly TurnEvent[],
): Promise<void> {
  if (more.length === 0) return
  await db.execute(sql`
    insert into ${chatEvents} (tenant_id, thread_id, ticket, seq, event, data, created_at)
    select ${tenantId}, ${threadId}, ${ticket}::int, ${seq}::bigint + m.n, m.event->>'event', m.event->'data',
      ${now().toISOString()}::timestamptz
    from jsonb_array_elements(${JSON.stringify(more)}::jsonb) with ordinality m(event, n)
    where not exists (
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
    .select({ seq: chatEvents.seq, event: chatEvents.event, createdAt: chatEvents.createdAt })
    .from(chatEvents)
    .where(and(isOfTurn(ctx, place), or(eq(chatEvents.seq, seq), inArray(chatEvents.event, LAST))))
  const row = rows.find((stored) => stored.seq === seq)
  if (row && isWaiting(row.event)) return { last: place.seq > 0 && (await isPresentWait(ctx, place, row)) }
  if (row) return { last: place.seq > 0 && endsStream(row.event) }
  // The last event is stored after all others, so nothing the client could have seen is missing.
  if (rows.length > 0) return null
  // The event may have been sent before it was stored, by a process that has died.
  const isRecent = turn !== undefined && ctx.now().getTime() - turn.startedAt.getTime() < LIFETIME_MS
  const lives = isRecent || (await isAtWork(ctx, place.threadId, place.ticket))
  return lives ? { last: false } : null
}

/** Whether a turn waits for people, and has asked nothing since an event that said so. */
async function isPresentWait(
  ctx: ServiceContext,
  place: Place,
  { seq, createdAt }: Pick<ReadEvent, 'seq' | 'createdAt'>,
): Promise<boolean> {
  const turn = await turnAt(ctx, place)
  if (turn?.status !== 'paused' || turn.runId === null) return false
  if (((await lastEvent(ctx, place))?.seq ?? 0) > seq) return false
  const asked = and(eq(pauses.tenantId, ctx.tenantId), eq(pauses.runId, turn.runId), isNull(pauses.answeredAt))
  const [later] = await ctx.db
    .select({ id: pauses.id })
    .from(pauses)
    .where(and(asked, gt(pauses.createdAt, createdAt)))
  return later === undefined
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

/** Deletes events that no stream can request any more, and the abandoned turns of dead processes. */
export async function sweepChats(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - LIFETIME_MS)
  await db.delete(threadTurns).where(lt(threadTurns.leasedUntil, before))
  const gone = await db.delete(chatEvents).where(lt(chatEvents.createdAt, before)).returning({ seq: chatEvents.seq })
  return gone.length
}

async function readEvents(ctx: ServiceContext, after: EventPlace): Promise<ReadEvent[]> {
  const { seq, event, data, createdAt } = chatEvents
  const rows = await ctx.db
    .select({ seq, event, data, createdAt })
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
