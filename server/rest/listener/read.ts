import type { IncomingMessage, ServerResponse } from 'node:http'
import { SentRequest } from '../../http/sent-request'

/**
 * The standard request that a route gets. Its signal fires when the caller hangs up before the response is complete,
 * and its body is not read until the route asks for it.
 */
export function readRequest(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const { method = 'GET', url = '/' } = incoming
  return new SentRequest(`http://localhost${url}`, {
    method,
    headers: headersOf(incoming),
    // The standard request refuses a body for GET and HEAD. Next also ignores it.
    chunks: method === 'GET' || method === 'HEAD' || !hasBody(incoming) ? null : () => chunksOf(incoming),
    watch: (gone) => watch(outgoing, gone),
  })
}

function headersOf({ headers, socket }: IncomingMessage): [string, string][] {
  const list: [string, string][] = []
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) list.push([name, one])
  }
  // Like Next, so that both count requests by the same address. `server/http/address.ts` reads it.
  if (headers['x-forwarded-for'] === undefined && socket.remoteAddress) {
    list.push(['x-forwarded-for', socket.remoteAddress])
  }
  return list
}

function watch(outgoing: ServerResponse, gone: () => void): void {
  if (outgoing.destroyed) gone()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone()
  })
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** The body, chunk by chunk as the route asks for it, so a caller cannot send faster than it is read. */
async function* chunksOf(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    // Leaves the connection open for the response, even if only part of the body was read.
    yield* incoming.iterator({ destroyOnReturn: false })
  } finally {
    // Node discards the rest of a request only if none of it was read.
    incoming.resume()
  }
}
