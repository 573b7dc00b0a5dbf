/** One event of a `text/event-stream`. */
export interface ServerSentEvent {
  id?: string
  event: string
  data: unknown
}

const HEARTBEAT_MS = 15_000
/** How long a client waits before it reconnects. */
const RECONNECT_MS = 2_000

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // `no-transform`, because compression would hold back events.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

/**
 * Sends events as a body, with a comment whenever nothing was sent for a while, so that dead connections are noticed.
 * The source's own signal fires when the caller leaves (`signal` fires, or the stream is cancelled).
 */
export function eventStream(
  source: (signal: AbortSignal) => AsyncGenerator<ServerSentEvent>,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const gone = new AbortController()
  const leave = () => gone.abort()
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  const events = source(gone.signal)
  const encoder = new TextEncoder()
  let pending: Promise<IteratorResult<ServerSentEvent>> | null = null
  return new ReadableStream({
    start(controller) {
      controller.enqueue(encoder.encode(`retry: ${RECONNECT_MS}\n\n`))
    },
    async pull(controller) {
      pending ??= events.next()
      let timer: NodeJS.Timeout | undefined
      const silence = new Promise<null>((resolve) => {
        timer = setTimeout(resolve, HEARTBEAT_MS, null)
      })
      try {
        const next = await Promise.race([pending, silence])
        if (next === null) {
          controller.enqueue(encoder.encode(': still here\n\n'))
          return
        }
        pending = null
        if (!next.done) {
          controller.enqueue(encoder.encode(format(next.value)))
          return
        }
        signal.removeEventListener('abort', leave)
        controller.close()
      } finally {
        clearTimeout(timer)
      }
    },
    async cancel() {
      leave()
      signal.removeEventListener('abort', leave)
      await events.return(undefined)
    },
  })
}

function format({ id, event, data }: ServerSentEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
