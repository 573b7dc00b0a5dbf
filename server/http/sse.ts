import { reserveStream } from './open-streams'

/** One event of a `text/event-stream`. */
export interface ServerSentEvent {
  id?: string
  event: string
  data: unknown
}

/** An event without a name: data as JSON, or a text. */
export type UnnamedEvent = { data: unknown } | { text: string }

const HEARTBEAT_MS = 15_000
/** How long a client waits before it reconnects. */
const RECONNECT_MS = 2_000

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // `no-transform`, because compression would delay events.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

/** Whether a request asks for events. */
export const takesStream = ({ headers }: Request) => (headers.get('accept') ?? '').includes('text/event-stream')

/** The response with a stream of `openStream`; without one 204, which stops clients that reconnect automatically. */
export function streamAnswer(stream: ReadableStream<Uint8Array> | null) {
  return stream ? { headers: SSE_HEADERS, body: stream } : { status: 204, body: null }
}

export type EventSource<E = ServerSentEvent> = (signal: AbortSignal) => AsyncGenerator<E>
type AnySource = EventSource<ServerSentEvent | UnnamedEvent>

/**
 * Opens a stream and counts it as one of the tenant's open streams, before anything begins and until either side ends
 * the stream or it is discarded unread.
 * @returns null if `open` has nothing to send
 * @throws AppError TOO_MANY_STREAMS, and the errors of `open`
 */
export async function openStream(
  tenantId: string,
  signal: AbortSignal,
  open: () => Promise<AnySource | null>,
): Promise<ReadableStream<Uint8Array> | null> {
  const leave = reserveStream(tenantId)
  try {
    const source = await open()
    if (source) return eventStream(source, signal, leave)
  } catch (err) {
    leave()
    throw err
  }
  leave()
  return null
}

/**
 * Sends events as a body, with a comment whenever nothing was sent for a while, so that dead connections are noticed.
 * The source's own signal fires when the caller leaves (`signal` fires, or the stream is cancelled).
 * @param onEnd called at least once: at the end, or when the caller leaves
 */
export function eventStream(
  source: AnySource,
  signal: AbortSignal,
  onEnd: () => void = () => {},
): ReadableStream<Uint8Array> {
  const gone = new AbortController()
  const leave = () => {
    gone.abort()
    onEnd()
  }
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  const events = source(gone.signal)
  const encoder = new TextEncoder()
  let pending: Promise<IteratorResult<ServerSentEvent | UnnamedEvent>> | null = null
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
        onEnd()
        controller.close()
      } catch (err) {
        signal.removeEventListener('abort', leave)
        onEnd()
        throw err
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

function format(sent: ServerSentEvent | UnnamedEvent): string {
  if ('text' in sent) return `data: ${sent.text}\n\n`
  const name = 'event' in sent ? `${sent.id === undefined ? '' : `id: ${sent.id}\n`}event: ${sent.event}\n` : ''
  return `${name}data: ${JSON.stringify(sent.data)}\n\n`
}
