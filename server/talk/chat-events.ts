import { setTimeout as sleep } from 'node:timers/promises'
import { and, asc, eq, gt, inArray, lt, or } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { chatEvents, threadTurns } from '@/db/schema/threads'
import { isAtWork } from '../agents/turn-lease'
import type { ServiceContext } from '../context'
import type { ChatEventName } from '../definition/agent'
import { type JsonObject, toStorableJson } from '../definition/json'
import type { ServerSentEvent } from '../http/sse'

const FLUSH_MS = 100
const POLL_MS = 250
const LIFETIME_MS = 3_600_000

interface ChatEvent {
  seq: number
  event: ChatEventName
  data: JsonObject
}

/** The position of an event: the value of `Last-Event-ID`. */
interface EventPlace {
  threadId: string
  ticket: number
  seq: number
}

export function parseEventId(text: string): EventPlace | null {
  const match = /^(thr_[A-Za-z0-9_-]{1,76})\.(\d{1,9})\.(\d{1,9})$/.exec(text)
  return match?.[1] ? { threadId: match[1], ticket: Number(match[2]), seq: Number(match[3]) } : null
}

const LAST: ChatEventName[] = ['message.done', 'error']
const isLast = (event: ChatEventName) => LAST.includes(event)

/**
 * The events of one turn. They are sent immediately and stored in small batches. A client that loses its stream can
 * continue from the stored events, so the turn continues without it.
 */
export class ChatLog {
  private seq = 0
  private readonly live: ChatEvent[] = []
  private unsaved: ChatEvent[] = []
  private saving: Promise<void> = Promise.resolve()
  private timer: NodeJS.Timeout | undefined
  private wake: () => void = () => {}

  constructor(
    private readonly ctx: ServiceContext,
    readonly place: Omit<EventPlace, 'seq'>,
  ) {}

  add(event: ChatEventName, data: Record<string, unknown>): void {
    this.seq += 1
    const added = { seq: this.seq, event, data: toStorableJson(data) }
    this.live.push(added)
    this.unsaved.push(added)
    this.timer ??= setTimeout(() => this.flush(), FLUSH_MS)
    this.wake()
  }

  /** Resolves once all events so far are stored, or failed to be. */
  async flush(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    const rows = this.unsaved.map((event) => ({
      tenantId: this.ctx.tenantId,
      ...this.place,
      ...event,
      createdAt: this.ctx.now(),
    }))
    this.unsaved = []
    if (rows.length > 0) {
      this.saving = this.saving
        .then(async () => {
          await this.ctx.db.insert(chatEvents).values(rows)
        })
        .catch((err: unknown) => this.ctx.log.warn({ err }, 'could not store chat events'))
    }
    await this.saving
  }

  /** Streams the events as they happen, until the last one or until the reader disconnects. */
  async *read(signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
    const leave = () => this.wake()
    signal.addEventListener('abort', leave)
    try {
      for (let at = 0; !signal.aborted; ) {
        const next = this.live[at]
        if (!next) {
          await new Promise<void>((resolve) => {
            this.wake = resolve
          })
          continue
        }
        at += 1
        // Store before sending the last event: a client that saw it may immediately ask any process for the next one.
        if (isLast(next.event)) await this.flush()
        yield toServerSent(this.place, next)
        if (isLast(next.event)) return
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
  for (let seen = after.seq; !signal.aborted; ) {
    // Check this before reading: if the turn ends in between, its last event is already stored.
    const working = await isAtWork(ctx, threadId, ticket)
    const events = await readEvents(ctx, { threadId, ticket, seq: seen })
    for (const event of events) {
      yield toServerSent(after, event)
      if (isLast(event.event)) return
      seen = event.seq
    }
    if (!working && events.length === 0) {
      const message = 'Internal server error: the answer was interrupted'
      yield toServerSent(after, { seq: seen + 1, event: 'error', data: { code: 'INTERNAL', message, threadId } })
      return
    }
    if (events.length === 0) await sleep(POLL_MS, undefined, { signal }).catch(() => {})
  }
}

/** Whether an event was sent and is still stored, and whether it was the last of its turn. */
export async function findEvent(ctx: ServiceContext, place: EventPlace): Promise<{ last: boolean } | null> {
  // 0 is the position before the first event, so it is valid as long as event 1 is stored.
  const seq = Math.max(1, place.seq)
  const rows = await ctx.db
    .select({ seq: chatEvents.seq, event: chatEvents.event })
    .from(chatEvents)
    .where(and(isOfTurn(ctx, place), or(eq(chatEvents.seq, seq), inArray(chatEvents.event, LAST))))
  const row = rows.find((stored) => stored.seq === seq)
  if (row) return { last: place.seq > 0 && isLast(row.event) }
  // The last event is stored after all others, so nothing the client could have seen is missing.
  if (rows.length > 0) return null
  // The event may have been sent before it was stored.
  return (await isAtWork(ctx, place.threadId, place.ticket)) ? { last: false } : null
}

/** Deletes events that no stream can request any more, and the abandoned turns of dead processes. */
export async function sweepChats(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - LIFETIME_MS)
  await db.delete(threadTurns).where(lt(threadTurns.leasedUntil, before))
  const gone = await db.delete(chatEvents).where(lt(chatEvents.createdAt, before)).returning({ seq: chatEvents.seq })
  return gone.length
}

async function readEvents(ctx: ServiceContext, after: EventPlace): Promise<ChatEvent[]> {
  const rows = await ctx.db
    .select({ seq: chatEvents.seq, event: chatEvents.event, data: chatEvents.data })
    .from(chatEvents)
    .where(and(isOfTurn(ctx, after), gt(chatEvents.seq, after.seq)))
    .orderBy(asc(chatEvents.seq))
    .limit(1000)
  return rows
}

function isOfTurn(ctx: ServiceContext, { threadId, ticket }: Omit<EventPlace, 'seq'>) {
  return and(eq(chatEvents.tenantId, ctx.tenantId), eq(chatEvents.threadId, threadId), eq(chatEvents.ticket, ticket))
}

function toServerSent({ threadId, ticket }: Omit<EventPlace, 'seq'>, { seq, event, data }: ChatEvent): ServerSentEvent {
  return { id: `${threadId}.${ticket}.${seq}`, event, data }
}
