import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * The standard request that a route gets. Its signal fires when the caller hangs up before the answer is complete, and
 * its body is not read until the route asks for it.
 */
export function readRequest(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const { method = 'GET', url = '/' } = incoming
  // The standard request refuses a body for GET and HEAD. Next ignores it too.
  const body = method === 'GET' || method === 'HEAD' || !hasBody(incoming) ? null : bodyOf(incoming)
  return new Request(`http://localhost${url}`, {
    method,
    headers: headersOf(incoming),
    signal: signalOf(outgoing),
    ...(body ? { body, duplex: 'half' } : {}),
  } as RequestInit)
}

function headersOf({ headers, socket }: IncomingMessage): [string, string][] {
  const list: [string, string][] = []
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) list.push([name, one])
  }
  // As Next does, so that both count requests by the same address. `server/http/address.ts` reads it.
  if (headers['x-forwarded-for'] === undefined && socket.remoteAddress) {
    list.push(['x-forwarded-for', socket.remoteAddress])
  }
  return list
}

function signalOf(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController()
  if (outgoing.destroyed) gone.abort()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  return gone.signal
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** The body, chunk by chunk as the route asks for it, so a caller cannot send faster than it is read. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let chunks: NodeJS.AsyncIterator<Uint8Array> | undefined
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // Keeps the connection open for the answer, even if only part of the body was read.
        chunks ??= incoming.iterator({ destroyOnReturn: false })
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await chunks?.return?.()
        // Node discards what follows a request only if none of it was read.
        incoming.resume()
      },
    },
    { highWaterMark: 0 },
  )
}
