import { createHash } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { env } from '../env'
import { log } from '../log'
import { CachedText, PLACEHOLDER } from './cached-text'
import { originOf } from './origin'

export type PageHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Pages that are the same for everyone, except for the address at which the service is reached. */
const KEPT = ['/reference']
/** How long making a page may take, and the delay before a retry. Until it succeeds, each request renders its own. */
const MAX_MS = 60_000
const AGAIN_MS = 60_000

interface Page {
  text: CachedText
  headers: Record<string, string>
}

/**
 * Caches expensive pages that anyone may request: makes each once, and sends it from memory. They are documents: their
 * scripts are left out, except for the one that sets the colours before anything is shown.
 * @param render makes every page; other requests go to it directly
 */
export function cachePages(render: PageHandler): PageHandler {
  const pages = new Map<string, Promise<Page | null>>()
  return async (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    if (!KEPT.includes(path) || (request.method !== 'GET' && request.method !== 'HEAD'))
      return render(request, response)
    let page = pages.get(path)
    if (!page) {
      page = makePage(render, request, path).catch((err: unknown) => {
        log().warn({ err, path }, 'a page could not be cached')
        setTimeout(() => pages.delete(path), AGAIN_MS).unref()
        return null
      })
      pages.set(path, page)
    }
    const made = await page
    if (made) await sendPage(made, request, response)
    else await render(request, response)
  }
}

async function sendPage(page: Page, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const origin = originOf(headersFor(request, ['host', 'x-forwarded-host', 'x-forwarded-proto']))
  const { headers: sent, body } = await page.text.answer({
    origin,
    acceptEncoding: request.headers['accept-encoding']?.toString(),
    ifNoneMatch: request.headers['if-none-match'],
  })
  const secure = origin.startsWith('https:') || env().PUBLIC_URL?.startsWith('https:')
  const headers = { ...page.headers, ...(secure ? { 'strict-transport-security': 'max-age=31536000' } : {}), ...sent }
  if (body === null) response.writeHead(304, headers).end()
  else {
    response.writeHead(200, { ...headers, 'content-length': body.byteLength })
    response.end(request.method === 'HEAD' ? undefined : body)
  }
}

const SCRIPT = /<script\b[^>]*>([\s\S]*?)<\/script>/g
/** React moves late parts of a page to their places with a script. */
const INCOMPLETE = /<template id="[A-Z]:/

async function makePage(render: PageHandler, request: IncomingMessage, path: string): Promise<Page> {
  const { status, headers, text } = await rendered(render, request, path)
  if (status !== 200 || INCOMPLETE.test(text)) throw new Error(`The page ${path} is not complete (${status}).`)
  const hashes: string[] = []
  const html = text
    .replace(SCRIPT, (all, code: string) => {
      if (!all.includes('data-mantine-script')) return ''
      const script = alsoLater(code)
      hashes.push(`'sha256-${createHash('sha256').update(script).digest('base64')}'`)
      return `<script data-mantine-script="true">${script}</script>`
    })
    .replace(/<link\b[^>]*\bas="script"[^>]*>/g, '')
  const policy = String(headers['content-security-policy']).replace(
    /script-src [^;]*/,
    `script-src ${hashes.join(' ')}`,
  )
  return {
    text: new CachedText(html),
    headers: {
      ...Object.fromEntries(
        SENT.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
      ),
      'content-security-policy': policy,
    },
  }
}

/** React would follow the reader's choice of colours on an open page; without it, the script that sets them does. */
function alsoLater(code: string): string {
  return `(() => { const set = () => { ${code} }; set(); matchMedia('(prefers-color-scheme: dark)').addEventListener('change', set) })()`
}

/** The response headers of the page that are sent. */
const SENT = [
  ...['content-type', 'x-content-type-options', 'referrer-policy', 'cross-origin-opener-policy', 'permissions-policy'],
]

/** The page as Next renders it for an anonymous reader. */
async function rendered(render: PageHandler, { socket }: IncomingMessage, path: string) {
  const request = new IncomingMessage(socket)
  // Next sends a page to a reader of this kind in one piece, with everything in its place.
  Object.assign(request, {
    method: 'GET',
    url: path,
    headers: { host: new URL(PLACEHOLDER).host, 'user-agent': 'Twitterbot', accept: 'text/html' },
  })
  request.push(null)
  const response = new Collected(request)
  const tooLong = wait(MAX_MS, undefined, { ref: false }).then(() => {
    throw new Error(`The page ${path} was not made in time.`)
  })
  await Promise.race([render(request, response).then(() => response.complete), tooLong])
  return {
    status: response.statusCode,
    headers: response.getHeaders(),
    text: Buffer.concat(response.chunks).toString(),
  }
}

/** A response that is collected in memory. */
class Collected extends ServerResponse {
  readonly chunks: Buffer[] = []
  private done: () => void = () => {}
  readonly complete = new Promise<void>((resolve) => {
    this.done = resolve
  })

  override write(chunk: string | Uint8Array, ...rest: unknown[]): boolean {
    this.chunks.push(Buffer.from(chunk as string))
    for (const one of rest) if (typeof one === 'function') one()
    return true
  }

  override end(...given: unknown[]): this {
    const [chunk] = given
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.chunks.push(Buffer.from(chunk as string))
    for (const one of given) if (typeof one === 'function') one()
    this.finished = true
    this.done()
    this.emit('finish')
    this.emit('close')
    return this
  }
}

function headersFor({ headers }: IncomingMessage, names: string[]): Headers {
  return new Headers(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])] as [string, string]])),
  )
}
