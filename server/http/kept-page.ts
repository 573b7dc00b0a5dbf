import { createHash } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { env } from '../env'
import { log } from '../log'
import { etagOf, isKnown } from './etag'
import { originOf } from './origin'

export type PageHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Pages that are the same for everybody, but for the address at which the service is reached. */
const KEPT = ['/reference']
/** Stands for that address while a page is made, so that the addresses callers think of cost nothing to make. */
const PLACEHOLDER = 'origin.millrace.invalid'
/** How many compressed copies are kept of a page, for different addresses and encodings; others are sent as they are. */
const MOST_COPIES = 12
/** A copy nobody has asked for this long makes room for another one. */
const UNUSED_MS = 10 * 60_000
/** How long making one may take, and after how long it is tried again if it fails. Until then, everybody gets their own. */
const MOST_MS = 60_000
const AGAIN_MS = 60_000

interface Copy {
  body: Promise<Buffer>
  usedAt: number
}

interface Page {
  /** What is between the places where the address stands. */
  parts: string[]
  headers: Record<string, string>
  etag: string
  copies: Map<string, Copy>
}

/**
 * Has pages made once that anybody may ask for and that are expensive, and sends them from memory. They are documents: their
 * scripts are left out, apart from the one that sets the colours before anything is shown.
 * @param render makes every page; other requests go to it directly
 */
export function keepPages(render: PageHandler): PageHandler {
  const pages = new Map<string, Promise<Page | null>>()
  return async (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    if (!KEPT.includes(path) || (request.method !== 'GET' && request.method !== 'HEAD'))
      return render(request, response)
    let page = pages.get(path)
    if (!page) {
      page = makePage(render, request, path).catch((err: unknown) => {
        log().warn({ err, path }, 'a page could not be kept')
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

const encode = {
  br: (text: string) =>
    promisify(brotliCompress)(text, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_MODE]: 1 },
    }),
  gzip: (text: string) => promisify(gzip)(text, { level: 9 }),
}

async function sendPage(page: Page, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const origin = originOf(headersFor(request, ['host', 'x-forwarded-host', 'x-forwarded-proto']))
  // Without a placeholder, the page has the address of `PUBLIC_URL`.
  const shown = page.parts.length === 1 ? '' : origin
  const accepted = String(request.headers['accept-encoding'] ?? '')
  const encoding = (['br', 'gzip'] as const).find((name) =>
    new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\b)`).test(accepted),
  )
  const text = () => page.parts.join(shown)
  const copy = encoding && copyOf(page, `${encoding} ${shown}`, () => encode[encoding](text()))
  const etag = etagOf(`${page.etag} ${shown} ${copy ? encoding : ''}`)
  const secure = origin.startsWith('https:') || env().PUBLIC_URL?.startsWith('https:')
  const headers = {
    ...page.headers,
    ...(secure ? { 'strict-transport-security': 'max-age=31536000' } : {}),
    etag,
    'cache-control': 'no-cache',
    vary: 'Host, Accept-Encoding',
  }
  if (isKnown(request.headers['if-none-match'], etag)) {
    response.writeHead(304, headers).end()
    return
  }
  const body = copy ? await copy : Buffer.from(text())
  const more = { ...(copy && encoding ? { 'content-encoding': encoding } : {}), 'content-length': body.byteLength }
  response.writeHead(200, { ...headers, ...more }).end(request.method === 'HEAD' ? undefined : body)
}

/** The copy of this name, made if there is room for it. */
function copyOf({ copies }: Page, name: string, make: () => Promise<Buffer>): Promise<Buffer> | undefined {
  const now = performance.now()
  const known = copies.get(name)
  if (known) {
    known.usedAt = now
    return known.body
  }
  if (copies.size >= MOST_COPIES) {
    const unused = [...copies].find(([, { usedAt }]) => now - usedAt > UNUSED_MS)
    if (!unused) return undefined
    copies.delete(unused[0])
  }
  const body = make()
  copies.set(name, { body, usedAt: now })
  return body
}

const SCRIPT = /<script\b[^>]*>([\s\S]*?)<\/script>/g
/** React moves parts of a page that came late to their places with a script. */
const INCOMPLETE = /<template id="[A-Z]:/

async function makePage(render: PageHandler, request: IncomingMessage, path: string): Promise<Page> {
  const { status, headers, text } = await rendered(render, request, path)
  if (status !== 200 || INCOMPLETE.test(text)) throw new Error(`The page ${path} is not complete (${status}).`)
  const hashes: string[] = []
  const html = text
    .replace(SCRIPT, (all, code: string) => {
      if (!all.includes('data-mantine-script')) return ''
      hashes.push(`'sha256-${createHash('sha256').update(code).digest('base64')}'`)
      return all.replace(/ nonce="[^"]*"/, '')
    })
    .replace(/<link\b[^>]*\bas="script"[^>]*>/g, '')
  const policy = String(headers['content-security-policy']).replace(
    /script-src [^;]*/,
    `script-src ${hashes.join(' ')}`,
  )
  return {
    parts: html.split(`http://${PLACEHOLDER}`),
    etag: etagOf(html),
    headers: {
      ...Object.fromEntries(
        SENT.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
      ),
      'content-security-policy': policy,
    },
    copies: new Map(),
  }
}

/** What is sent of the headers that the page was made with. */
const SENT = [
  ...['content-type', 'x-content-type-options', 'referrer-policy', 'cross-origin-opener-policy', 'permissions-policy'],
]

/** The page as Next makes it for nobody in particular. */
async function rendered(render: PageHandler, { socket }: IncomingMessage, path: string) {
  const request = new IncomingMessage(socket)
  // Next sends a page to a reader of this kind in one piece, with everything in its place.
  Object.assign(request, {
    method: 'GET',
    url: path,
    headers: { host: PLACEHOLDER, 'user-agent': 'Twitterbot', accept: 'text/html' },
  })
  request.push(null)
  const response = new Collected(request)
  const tooLong = wait(MOST_MS, undefined, { ref: false }).then(() => {
    throw new Error(`The page ${path} was not made in time.`)
  })
  await Promise.race([render(request, response).then(() => response.complete), tooLong])
  return {
    status: response.statusCode,
    headers: response.getHeaders(),
    text: Buffer.concat(response.chunks).toString(),
  }
}

/** A response that nobody reads on the way. */
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
