import type postgres from 'postgres'

export interface Subscriber {
  /** A notification arrived. */
  heard(value: string): void
  /** Notifications arrive from now on; called again after each loss. */
  listening?(): void
  /** The connection broke: notifications are missed until it is listening again. */
  lost?(): void
}

/** A subscription to a channel, which outlives its connection until it is closed. */
export interface Subscription {
  /** Settles when notifications arrive for the first time. */
  ready: Promise<void>
  close(): void
}

type Options = NonNullable<Parameters<typeof postgres>[1]>
/** Makes a driver with the pool's options and these. */
type Open = (options: Options & { max: number }) => postgres.Sql

interface Entry {
  channel: string
  subscriber: Subscriber
  listening: boolean
  isReady(): void
}

const AGAIN_MS = 1_000

/**
 * Listens on any number of channels through one connection of its own while there are subscribers: a notification wakes
 * every connection that listens, on any channel. Not the driver's `listen`, which does not report a broken connection.
 */
export class Listener {
  private readonly entries = new Set<Entry>()
  private connection: Connection | null = null

  constructor(private readonly open: Open) {}

  subscribe(channel: string, subscriber: Subscriber): Subscription {
    let isReady = () => {}
    const ready = new Promise<void>((resolve) => {
      isReady = resolve
    })
    const entry = { channel, subscriber, listening: false, isReady }
    this.entries.add(entry)
    if (this.connection) this.connection.listen()
    else this.reopen()
    return { ready, close: () => this.remove(entry) }
  }

  /** Listens through a new connection. */
  reopen(): void {
    this.close()
    if (this.entries.size > 0) this.connection = new Connection(this.open, this.entries)
  }

  close(): void {
    this.connection?.close()
    this.connection = null
  }

  private remove(entry: Entry): void {
    if (!this.entries.delete(entry)) return
    lose(entry)
    if (this.entries.size === 0) this.close()
    else this.connection?.leave(entry.channel)
  }
}

function lose(entry: Entry): void {
  if (entry.listening) entry.subscriber.lost?.()
  entry.listening = false
}

class Connection {
  private readonly driver: postgres.Sql
  private closed = false

  constructor(
    open: Open,
    private readonly entries: ReadonlySet<Entry>,
  ) {
    const options = {
      max: 1,
      // A listening connection is idle most of the time and must stay open.
      idle_timeout: 0,
      max_lifetime: null,
      fetch_types: false,
      onnotify: (name: string, value: string) => {
        if (this.closed) return
        for (const { channel, subscriber } of entries) if (channel === name) subscriber.heard(value)
      },
      onclose: () => {
        this.loseAll()
        // The driver delays the next connection. A statement that waits for one fails with it, and is sent again here.
        if (!this.closed) this.listen()
      },
    }
    this.driver = open(options)
    this.listen()
  }

  /** Listens on every channel; one that it listens on already stays as it is. */
  listen(): void {
    const asked = [...this.entries]
    const channels = [...new Set(asked.map(({ channel }) => channel))]
    this.driver.unsafe(channels.map((channel) => `listen ${quoted(channel)}`).join(';')).then(
      () => {
        for (const entry of asked) this.begun(entry)
      },
      (error: unknown) => {
        // A server that stays connected has refused; after a lost connection, `onclose` has already asked again.
        if (error instanceof Error && error.name === 'PostgresError') setTimeout(() => this.again(), AGAIN_MS).unref()
      },
    )
  }

  /** This subscriber has left; the channel stays open while it has others. */
  leave(channel: string): void {
    if ([...this.entries].some((entry) => entry.channel === channel)) return
    this.driver.unsafe(`unlisten ${quoted(channel)}`).catch(() => {})
  }

  close(): void {
    this.closed = true
    this.loseAll()
    this.driver.end({ timeout: 0 }).catch(() => {})
  }

  private begun(entry: Entry): void {
    if (this.closed || entry.listening || !this.entries.has(entry)) return
    entry.listening = true
    entry.subscriber.listening?.()
    entry.isReady()
  }

  private again(): void {
    if (!this.closed && [...this.entries].some(({ listening }) => !listening)) this.listen()
  }

  private loseAll(): void {
    for (const entry of this.entries) lose(entry)
  }
}

function quoted(channel: string): string {
  return `"${channel.replaceAll('"', '""')}"`
}
