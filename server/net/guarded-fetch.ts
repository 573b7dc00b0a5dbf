import { type Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { type AllowedHosts, isAddress } from '@/lib/ip'
import { allowedHosts } from './allowed-hosts'
import { inUtf8 } from './charset'
import { Clock } from './clock'
import { isRepeatable, pooledAgent } from './connections'
import { ACCEPTED_ENCODINGS, decoded } from './decoded'
import { OutboundFailure } from './outbound-failure'
import { ReceivedResponse } from './received-response'
import { type CheckUrl, type Resolve, type Vetted, vet } from './vet'

export interface GuardedRequest {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array | undefined
  signal?: AbortSignal | undefined
  /** `error` refuses redirects. */
  redirect?: 'follow' | 'error'
}

export interface GuardOptions {
  /** For the whole call, redirects and body included; 10 s by default. */
  timeoutMs?: number
  /** Limit for the decoded body in bytes; 1 MiB by default. */
  maxBytes?: number
  /** Replaced by tests. */
  resolve?: Resolve
  /** ALLOW_PRIVATE_HOSTS by default. */
  allowed?: AllowedHosts
  /**
   * The only hosts that may be called, also by redirects; any host by default. They must still be public or allowed.
   */
  only?: AllowedHosts
  /** Holds connections open for later calls of the same owner, such as a tenant. Otherwise each call makes its own. */
  owner?: string | undefined
  /** Called with every URL, including redirects, before anything is sent there; throws to refuse it. */
  check?: CheckUrl
}

const TIMEOUT_MS = 10_000
const MAX_BYTES = 1024 * 1024
const MAX_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** Headers that belong to the connection; callers may not set them. */
const OWN_HEADERS = new Set(
  'connection content-length expect host keep-alive proxy-connection te trailer transfer-encoding upgrade'.split(' '),
)
/** The only headers that follow a redirect to another origin: any other may be a credential. */
const HARMLESS_HEADERS = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

const NO_REDIRECT =
  'The server redirects to another address, and this request follows no redirects. Use the address that it redirects to.'

/**
 * Every call whose target a user can influence goes through here: public addresses only (or those a self-hoster
 * allowed), connects to exactly the checked address, checks every redirect again, no cookies, limits on time and size.
 * The body is read from the response as usual; reading it may also throw an OutboundFailure.
 * @throws OutboundFailure
 * @throws the reason of `signal`
 */
export async function guardedFetch(
  target: string | URL,
  request: GuardedRequest = {},
  options: GuardOptions = {},
): Promise<Response> {
  const {
    timeoutMs = TIMEOUT_MS,
    maxBytes = MAX_BYTES,
    allowed = allowedHosts(),
    only,
    check,
    resolve,
    owner,
  } = options
  const clock = new Clock(timeoutMs, request.signal)
  let answered = false
  try {
    let call = { ...request, method: (request.method ?? 'GET').toUpperCase(), headers: outgoing(request.headers) }
    let at = target
    for (let redirects = 0; ; redirects++) {
      const vetted = await clock.race(vet(at, { allowed, only, check, ...(resolve ? { resolve } : {}) }))
      const message = await clock.race(send(vetted, call, clock.signal, owner))
      const location = message.headers.location
      if (!REDIRECTS.has(message.statusCode ?? 0) || location === undefined) {
        answered = true
        return answer(message, clock, maxBytes, call.method)
      }
      message.destroy()
      if (request.redirect === 'error') throw new OutboundFailure('HTTP_ERROR', NO_REDIRECT)
      if (redirects === MAX_REDIRECTS)
        throw new OutboundFailure('HTTP_ERROR', `The server redirects more than ${redirects} times.`)
      const next = nextUrl(location, vetted.url)
      call = redirected(call, message.statusCode ?? 0, next.origin === vetted.url.origin)
      at = next
    }
  } catch (err) {
    throw clock.explain(err)
  } finally {
    if (!answered) clock.release()
  }
}

function outgoing(headers: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !OWN_HEADERS.has(name))
  return { 'user-agent': 'Millrace', ...Object.fromEntries(kept), 'accept-encoding': ACCEPTED_ENCODINGS }
}

function nextUrl(location: string, from: URL): URL {
  try {
    // Node reads header bytes as latin1; read them as UTF-8, and the URL parser does the escaping.
    return new URL(Buffer.from(location, 'latin1').toString('utf8'), from)
  } catch {
    throw new OutboundFailure('HTTP_ERROR', 'The server redirects to an invalid URL.')
  }
}

type Call = GuardedRequest & { method: string; headers: Record<string, string> }

/**
 * The request that follows a redirect.
 * @throws OutboundFailure when a body would go to another origin
 */
function redirected(call: Call, status: number, sameOrigin: boolean): Call {
  const toGet =
    (status === 303 && call.method !== 'HEAD') || ((status === 301 || status === 302) && call.method === 'POST')
  const { body, ...rest } = call
  if (!toGet && !sameOrigin && body !== undefined)
    throw new OutboundFailure('HTTP_ERROR', 'The server redirects a request with a body to another host.')
  const headers = Object.fromEntries(
    Object.entries(call.headers).filter(
      ([name]) =>
        (sameOrigin || HARMLESS_HEADERS.has(name) || name === 'accept-encoding') &&
        !(toGet && name.startsWith('content-')),
    ),
  )
  return toGet ? { ...rest, method: 'GET', headers } : { ...call, headers }
}

/** Connects only to the checked addresses, even if the name now resolves to others. */
async function send(
  vetted: Vetted,
  call: Call,
  signal: AbortSignal,
  owner: string | undefined,
): Promise<IncomingMessage> {
  if (owner === undefined || !isRepeatable(call)) return sendOnce(vetted, call, signal, { agent: false })
  const sent = { onReused: false }
  return sendOnce(vetted, call, signal, { ...pooledAgent(owner, vetted), sent }).catch((err: unknown) => {
    // The server closed the connection as the request arrived. A new one gets it through.
    if (!sent.onReused || signal.aborted || !isClosed(err)) throw err
    return sendOnce(vetted, call, signal, { agent: false })
  })
}

function isClosed(err: unknown): boolean {
  return err instanceof Error && 'code' in err && (err.code === 'ECONNRESET' || err.code === 'EPIPE')
}

function sendOnce(
  { url, host, port, addresses }: Vetted,
  call: Call,
  signal: AbortSignal,
  { sent, ...connection }: { agent: Agent | false; sharedBy?: string; sent?: { onReused: boolean } },
): Promise<IncomingMessage> {
  const lookup: LookupFunction = (_host, { all }, callback) => {
    if (all) callback(null, addresses)
    else callback(null, addresses[0].address, addresses[0].family)
  }
  const body = call.body === undefined ? undefined : Buffer.from(call.body)
  return new Promise((resolve, reject) => {
    const options = {
      method: call.method,
      host,
      port,
      path: `${url.pathname}${url.search}`,
      headers: {
        ...call.headers,
        host: url.host,
        ...(body === undefined && (call.method === 'GET' || call.method === 'HEAD')
          ? {}
          : { 'content-length': String(body?.byteLength ?? 0) }),
      },
      lookup,
      ...connection,
      signal,
    }
    const request =
      url.protocol === 'https:'
        ? httpsRequest({ ...options, ...(isAddress(host) ? {} : { servername: host }) })
        : httpRequest(options)
    request.on('response', resolve)
    request.on('error', (err) => {
      if (sent) sent.onReused = request.reusedSocket
      reject(err)
    })
    request.on('upgrade', (_message, socket) => {
      socket.destroy()
      reject(new OutboundFailure('HTTP_ERROR', 'The server asked for another protocol.'))
    })
    request.end(body)
  })
}

const NO_BODY = new Set([204, 205, 304])

function answer(message: IncomingMessage, clock: Clock, maxBytes: number, method: string): Response {
  const status = message.statusCode ?? 0
  if (status < 200 || status > 599) {
    message.destroy()
    clock.release()
    throw new OutboundFailure('HTTP_ERROR', `The server answered with the status ${status}.`)
  }
  const headers = new Headers()
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    // The body is passed on decoded, and cookies are dropped.
    if (['set-cookie', 'content-encoding', 'content-length', 'transfer-encoding'].includes(name)) continue
    for (const value of values ?? []) headers.append(name, value)
  }
  const init = { status, headers }
  if (NO_BODY.has(status) || method === 'HEAD') {
    message.destroy()
    clock.release()
    return new Response(null, init)
  }
  const bytes = decoded(message, message.headers['content-encoding'] ?? '', maxBytes)
  const chunks = inUtf8(bytes, headers.get('content-type') ?? '')
  const end = () => {
    clock.release()
    message.destroy()
  }
  return new ReceivedResponse(init, {
    chunks,
    race: (work) => clock.race(work),
    explain: (err) => clock.explain(err),
    end,
  })
}
