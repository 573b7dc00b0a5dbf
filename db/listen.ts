import type postgres from 'postgres'

/** The callbacks of a subscriber. */
export interface Subscriber {
  /** A notification arrived. */
  heard(value: string): void
  /** From now on notifications arrive; also after each loss. */
  listening?(): void
  /** The connection broke: notifications are missed until it is listening again. */
  lost?(): void
}

/** A connection that listens; it reconnects by itself until it is closed. */
export interface Subscription {
  /** Settles when it listens for the first time. */
  ready: Promise<void>
  close(): void
}

type Options = NonNullable<Parameters<typeof postgres>[1]>

const AGAIN_MS = 1_000

/**
 * Listens on a channel through a connection of its own. The driver's `listen` would do, but it says nothing when its
 * connection breaks.
 * @param open makes a driver with the pool's options and these
 */
export function subscribe(
  open: (options: Options & { max: number }) => postgres.Sql,
  channel: string,
  subscriber: Subscriber,
): Subscription {
  let closed = false
  let listening = false
  let isReady = () => {}
  const ready = new Promise<void>((resolve) => {
    isReady = resolve
  })
  const lose = () => {
    if (listening) subscriber.lost?.()
    listening = false
  }
  const options = {
    max: 1,
    // A listening connection is idle most of the time, and must stay open.
    idle_timeout: 0,
    max_lifetime: null,
    fetch_types: false,
    onnotify: (name: string, value: string) => {
      if (name === channel && !closed) subscriber.heard(value)
    },
    onclose: () => {
      lose()
      // The driver delays the next connection. A statement that waits for one fails with it, and is sent again here.
      if (!closed) listen()
    },
  }
  const driver = open(options)
  function listen(): void {
    driver.unsafe(`listen "${channel.replaceAll('"', '""')}"`).then(
      () => {
        if (closed) return
        listening = true
        subscriber.listening?.()
        isReady()
      },
      (error: unknown) => {
        // Refused by a server that stays connected; a lost connection has been asked again already.
        if (error instanceof Error && error.name === 'PostgresError') setTimeout(again, AGAIN_MS).unref()
      },
    )
  }
  const again = () => {
    if (!closed && !listening) listen()
  }
  listen()
  return {
    ready,
    close() {
      closed = true
      lose()
      driver.end({ timeout: 0 }).catch(() => {})
    },
  }
}
