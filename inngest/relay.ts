import { asc, inArray } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { outbox } from '@/db/schema/outbox'
import { now } from '@/server/clock'
import { isFree } from '@/server/leased-delivery'
import type { Log } from '@/server/log'

const BATCH = 100
/** How long rows belong to the relay that claimed them. If it dies, other relays may claim them after this time. */
const LEASE_MS = 10_000
const POLL_MS = 5_000

export interface OutgoingEvent {
  id: string
  name: string
  data: Record<string, unknown>
}

export interface Relay {
  start(): void
  stop(): Promise<void>
  /**
   * Call when a row may have been committed; where nothing runs between requests, also after each request, because a
   * row may belong to a process that cannot forward it.
   */
  kick(): void
}

/** Holds the process open until the work is done. */
export type KeepAlive = (work: Promise<unknown>) => void

type Send = (events: OutgoingEvent[]) => Promise<unknown>

interface RelayOptions {
  db: Db
  send: Send
  log: Log
  /** How often to look for rows of processes that died before forwarding them. */
  pollMs?: number
  /** Set where the process is suspended after each response. */
  keepAlive?: KeepAlive | undefined
}

/**
 * Forwards committed outbox rows at least once. The row's id is the event's id, so the engine recognises repeats. Rows
 * committed in this process trigger it; polling finds those of processes that died before forwarding them.
 */
export function createRelay({ db, send, log, pollMs = POLL_MS, keepAlive }: RelayOptions): Relay {
  let running = false
  let busy: Promise<void> | null = null
  let again = false
  let timer: NodeJS.Timeout | undefined

  async function drain(): Promise<void> {
    for (;;) {
      again = false
      const forwarded = await forwardBatch(db, send)
      if (forwarded < BATCH && !again) return
    }
  }

  function kick(): void {
    again = true
    if (!running) return
    if (!busy) {
      busy = drain()
        .catch((err: unknown) => log.warn({ err }, 'events wait in the outbox'))
        .finally(() => {
          busy = null
          // A kick may have arrived between the last check and this line.
          if (again) kick()
        })
    }
    // Also for work that another request began: the process may be suspended after that request's response.
    keepAlive?.(busy)
  }

  return {
    kick,
    start() {
      running = true
      timer = setInterval(kick, pollMs)
      kick()
    },
    async stop() {
      running = false
      clearInterval(timer)
      await busy
    },
  }
}

/** Forwards the outbox's rows, for a process that runs a single command and ends. */
export async function forwardOnce(db: Db, send: Send): Promise<void> {
  while ((await forwardBatch(db, send)) === BATCH);
}

async function forwardBatch(db: Db, send: Send): Promise<number> {
  const at = now()
  const due = db
    .select({ id: outbox.id })
    .from(outbox)
    .where(isFree(outbox.leasedUntil, at))
    .orderBy(asc(outbox.createdAt), asc(outbox.id))
    .limit(BATCH)
  const rows = await db
    .update(outbox)
    .set({ leasedUntil: new Date(at.getTime() + LEASE_MS) })
    .where(inArray(outbox.id, due.for('update', { skipLocked: true })))
    .returning({ id: outbox.id, name: outbox.name, data: outbox.data })
  if (rows.length === 0) return 0
  rows.sort((a, b) => (a.id < b.id ? -1 : 1))
  const taken = inArray(
    outbox.id,
    rows.map((row) => row.id),
  )
  try {
    await send(rows.map((row) => ({ id: row.id, name: row.name, data: row.data as Record<string, unknown> })))
  } catch (err) {
    // Another process may check soon.
    await db.update(outbox).set({ leasedUntil: null }).where(taken)
    throw err
  }
  await db.delete(outbox).where(taken)
  return rows.length
}
