import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { JsonResponse } from '../../http/json-response'
import { bodyText } from '../../http/respond'

/** A longer body is sent as it is read: it may not be in memory. */
const MAX_PIECE_BYTES = 4 * 1024 * 1024

/**
 * Sends a route's response. A small body of known length is sent in one piece, any other as it arrives and no faster
 * than the caller reads. When the caller leaves, its source ends. Throws the source's errors.
 */
export async function writeResponse(response: Response, outgoing: ServerResponse, method: string): Promise<void> {
  if (response instanceof JsonResponse && !response.isMade) {
    const { status, headers, text } = response.plain
    if (!outgoing.destroyed) outgoing.writeHead(status, headers).end(method === 'HEAD' ? undefined : text)
    return
  }
  const { body, headers, status } = response
  if (outgoing.destroyed) return body?.cancel()
  outgoing.statusCode = status
  for (const [name, value] of headers) outgoing.appendHeader(name, value)
  if (!body || method === 'HEAD') {
    outgoing.end()
    return body?.cancel()
  }
  const text = bodyText(response)
  if (text !== undefined) outgoing.end(text)
  else if (Number(headers.get('content-length') ?? Number.NaN) <= MAX_PIECE_BYTES)
    outgoing.end(new Uint8Array(await response.arrayBuffer()))
  else await stream(body, outgoing)
}

async function stream(body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = body.getReader()
  const closed = new Promise<void>((done) => outgoing.once('close', done))
  // Immediately, because a source may be silent for long. Its own failure shows in `read`.
  void closed.then(() => reader.cancel()).catch(() => {})
  for (;;) {
    const { done, value } = await reader.read()
    if (outgoing.destroyed) return
    if (done) break
    if (!outgoing.write(value)) await Promise.race([once(outgoing, 'drain'), closed])
  }
  outgoing.end()
}
