import { createServer, type IncomingMessage, type Server } from 'node:http'

export const TOKEN = 'vercel_blob_rw_TestStore_secretpart'
/** The URL where the SDK reads private blobs of this token's store. */
export const ORIGIN = 'https://teststore.private.blob.vercel-storage.com'

export interface Call {
  method: string
  path: string
  headers: IncomingMessage['headers']
}

/** Implements what the SDK uses: its API, and the store's own host. */
export function fakeBlobStore(blobs: Map<string, Buffer>, calls: Call[]): Server {
  return createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://store')
    calls.push({ method: request.method ?? '', path: url.pathname, headers: request.headers })
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const answer = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return answer(403, { error: { code: 'forbidden' } })
    if (request.method === 'PUT') {
      const pathname = url.searchParams.get('pathname') ?? ''
      blobs.set(pathname, body)
      return answer(200, { url: `${ORIGIN}/${pathname}`, downloadUrl: '', pathname, contentType: '', etag: '' })
    }
    if (request.method === 'POST' && url.pathname === '/delete') {
      for (const path of (JSON.parse(body.toString()) as { urls: string[] }).urls) blobs.delete(path)
      return answer(200, null)
    }
    const blob = blobs.get(url.pathname.slice(1))
    return blob ? response.writeHead(200).end(blob) : answer(404, {})
  })
}
