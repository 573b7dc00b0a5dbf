import { createHmac } from 'node:crypto'
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
    const pathname = url.searchParams.get('pathname') ?? ''
    const granted = grantOf(request.headers.authorization)
    if (!granted && request.headers.authorization !== `Bearer ${TOKEN}`)
      return answer(403, { error: { code: 'forbidden' } })
    if (request.method === 'PUT') {
      if (granted && !allows(granted, { pathname, body, type: request.headers['x-content-type'] }))
        return answer(403, { error: { code: 'forbidden' } })
      if (granted && blobs.has(pathname))
        return answer(400, { error: { code: 'bad_request', message: 'This blob already exists' } })
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

/** What a client token that our own token has signed allows. */
interface Grant {
  pathname: string
  maximumSizeInBytes: number
  allowedContentTypes: string[]
  validUntil: number
  allowOverwrite: boolean
}

function grantOf(authorization = ''): Grant | null {
  const text = /^Bearer vercel_blob_client_TestStore_(.+)$/.exec(authorization)?.[1]
  if (!text) return null
  const [signature, payload = ''] = Buffer.from(text, 'base64').toString().split('.')
  if (signature !== createHmac('sha256', TOKEN).update(payload).digest('hex')) return null
  return JSON.parse(Buffer.from(payload, 'base64').toString()) as Grant
}

function allows(grant: Grant, sent: { pathname: string; body: Buffer; type: unknown }): boolean {
  return (
    grant.pathname === sent.pathname &&
    !grant.allowOverwrite &&
    sent.body.byteLength <= grant.maximumSizeInBytes &&
    grant.allowedContentTypes.includes(String(sent.type)) &&
    grant.validUntil > Date.now()
  )
}

const DISPATCHER = Symbol.for('undici.globalDispatcher.1')
type Dispatcher = { dispatch(options: { origin?: unknown }, handler: unknown): boolean }

/**
 * Sends the SDK of this process to the store at an address: its API address is a setting, but it reads from the store's
 * own host.
 * @returns a function that undoes it
 */
export async function redirectSdk(local: string): Promise<() => void> {
  const holder = globalThis as { [DISPATCHER]?: Dispatcher }
  process.env.VERCEL_BLOB_API_URL = local
  // Creates the dispatcher.
  await fetch(local)
  const original = holder[DISPATCHER]
  holder[DISPATCHER] = {
    dispatch: (options, handler) =>
      original?.dispatch(String(options.origin) === ORIGIN ? { ...options, origin: local } : options, handler) ?? false,
  }
  return () => {
    if (original) holder[DISPATCHER] = original
    delete process.env.VERCEL_BLOB_API_URL
  }
}
