// The process that serves requests and runs the engine. It is plain JavaScript because a TypeScript loader would cost
// 0.6 s per start, 75 MB, and slower stack traces for as long as the process lives.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import module, { createRequire } from 'node:module'
import { createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { GRACE_MS, hostsToBind, stopDelayMs, surviveLostOutput, WEB_STOP_MS } from './common.mjs'
import { areTooLarge, isWellFormed, MAX_URL, METHODS, methodsOf, READ_HEADERS } from './guards.mjs'
import { forgetProxies, markLocal } from './local-mark.mjs'

const STARTING = { code: 'UNAVAILABLE', message: 'The service is starting.' }
const STOPPING = { code: 'UNAVAILABLE', message: 'The service is stopping.' }
const SOON = { 'retry-after': '1' }
const NOT_A_PATH = {
  code: 'INVALID_INPUT',
  message: 'Invalid input',
  details: [{ path: 'url', message: 'The path is not percent-encoded UTF-8.' }],
}
const TOO_LONG = {
  code: 'INVALID_INPUT',
  message: 'Invalid input',
  details: [{ path: 'url', message: `The URL is longer than ${MAX_URL.toLocaleString('en')} characters.` }],
}
const TOO_MANY_HEADERS = { code: 'HEADERS_TOO_LARGE', message: 'Request headers too large' }
const NOT_HTTP = {
  code: 'INVALID_INPUT',
  message: 'Invalid input',
  details: [{ message: 'The request is not well-formed HTTP.' }],
}
const NO_SUCH_METHOD = { code: 'METHOD_NOT_ALLOWED', message: 'Method not allowed' }

// Only the app in this process knows it, so no client can forge the mark.
const localKey = randomUUID()
process.env.MILLRACE_LOCAL_KEY = localKey

const dev = process.argv.includes('--dev')
const wantedPort = Number(process.env.PORT)
const [firstHost, ...otherHosts] = hostsToBind(process.env.HOST)

let leaving = false
let draining = false
/** @type {import('../instrumentation-node').Runtime | undefined} */
let runtime
/** @type {import('../server/rest/listener/create').ApiListener | null} */
let api = null
/** @type {(pages: Handler) => Handler} */
let wrapPages = (pages) => pages
/** @type {import('../instrumentation-node').Readable} */
let readable = async () => ({})
/** @typedef {{ response: import('node:http').ServerResponse | null }} Open */
/**
 * The unanswered requests, each in an object of its own, which is emptied at the end. A set is copied now and then, and
 * V8 retains the old copies and their contents until it collects the whole heap. With the responses themselves, a busy
 * process would retain half as much again until then.
 * @type {Set<Open>}
 */
const open = new Set()
const http = createServer({ maxHeaderSize: READ_HEADERS })
// Longer than load balancers keep idle connections, so that none of them sends into a connection that is closing.
http.keepAliveTimeout = 65_000
/** @type {import('node:net').Server[]} */
const extraServers = []

/** @typedef {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => Promise<void>} Handler */

async function serve() {
  /** @type {Promise<Handler> | undefined} Next's pages, once the runtime has started: they may still be loading */
  let pages
  http.on('request', (request, response) => {
    if (draining) return refuse(response, 503, STOPPING, SOON)
    if (!pages) return refuse(response, 503, STARTING, SOON)
    if (leaving) {
      // Health checks learn that others should get the requests from now on.
      if (request.url === '/api/health') return refuse(response, 503, STOPPING, SOON)
      response.setHeader('connection', 'close')
    }
    if ((request.url?.length ?? 0) > MAX_URL) return refuse(response, 400, TOO_LONG)
    if (!isWellFormed(request.url)) return refuse(response, 400, NOT_A_PATH)
    // In dev, Next's own pages send more.
    const methods = dev ? METHODS : methodsOf(request.url)
    if (!methods.includes(request.method ?? '')) {
      return refuse(response, 405, NO_SUCH_METHOD, { allow: methods.join(', ') })
    }
    if (areTooLarge(request.rawHeaders))
      return void readable(request).then((headers) => refuse(response, 431, TOO_MANY_HEADERS, headers))
    markLocal(request, localKey)
    if (!Number(process.env.TRUST_PROXY)) forgetProxies(request)
    // Only Next's own pages send it. On the API, Next would answer with a redirect.
    if (request.url?.startsWith('/api/')) delete request.headers.rsc
    /** @type {Open} */
    const one = { response }
    open.add(one)
    response.once('close', () => {
      open.delete(one)
      one.response = null
    })
    if (api?.(request, response)) return
    pages.then((answer) => answer(request, response)).catch(() => response.destroy())
  })
  http.on('clientError', refuseUnread)
  // First: a taken port shows at once, and callers during the start learn when to retry.
  const port = await listenEverywhere()
  // Node 22 and later cache compiled code for the next start.
  if ('enableCompileCache' in module && typeof module.enableCompileCache === 'function')
    module.enableCompileCache(join(process.cwd(), '.next/cache/compiled'))
  const { default: next } = await import('next')
  const started = runtimeStarted()
  const app = next({ dev, dir: process.cwd(), hostname: 'localhost', port, httpServer: http, quiet: !dev })
  const prepare = () => app.prepare().then(() => wrapPages(app.getRequestHandler()))
  if (dev) {
    const answer = await prepare()
    await started
    pages = Promise.resolve(answer)
  } else {
    // Runs continue and the API answers before Next has prepared, which takes as long again.
    await createRequire(import.meta.url)(join(process.cwd(), '.next/server/instrumentation.js')).register()
    await started
    pages = prepare()
    await pages
  }
  tell({ type: 'ready', port })
}

/** Listens on every address. @returns the port */
async function listenEverywhere() {
  await listen(http, wantedPort, firstHost)
  const address = http.address()
  const port = typeof address === 'object' && address ? address.port : wantedPort
  // One HTTP server for all addresses, so that draining and upgrades deal with only one.
  for (const host of otherHosts) {
    const server = createTcpServer((socket) => http.emit('connection', socket))
    await listen(server, port, host).catch((error) => {
      if (error.code === 'EADDRINUSE') throw error // any other error: a machine without IPv6
    })
    extraServers.push(server)
  }
  return port
}

/** @returns {Promise<void>} when instrumentation.ts has started the runtime; Next calls it again when it prepares */
function runtimeStarted() {
  const started = new Promise((done, fail) => {
    /** @type {import('../instrumentation-node').Boot} */
    const boot = {
      started(...parts) {
        // At once: in dev, Next may still fail, and then this must be stopped.
        ;[runtime, api, wrapPages, readable] = parts
        done(undefined)
      },
      failed: (message) => fail(new Error(message)),
    }
    Object.assign(globalThis, { [Symbol.for('millrace.boot')]: boot })
  })
  started.catch(() => {}) // in dev, Next reports the failure first
  return started
}

/** Lets work in progress finish within the grace period. */
async function drain() {
  // In dev the engine calls the functions over HTTP, so answer until it has stopped.
  if (dev) await stopRuntime()
  draining = true
  for (const server of [http, ...extraServers]) server.close()
  await Promise.all([dev ? undefined : stopRuntime(), allAnswered()])
  http.closeAllConnections()
}

async function stopRuntime() {
  await runtime?.stop(GRACE_MS).catch(() => {})
}

/** Waits for open requests, but not for event streams: they never end, and their readers reconnect. */
async function allAnswered() {
  const waiting = () =>
    [...open].some(({ response }) => !String(response?.getHeader('content-type')).startsWith('text/event-stream'))
  for (const until = Date.now() + GRACE_MS; waiting() && Date.now() < until; ) await sleep(20)
}

/**
 * Answers a request that never reaches the app, with an error in the usual shape.
 * @param {import('node:http').ServerResponse} response
 * @param {number} status
 * @param {{ code: string, message: string, details?: object[] }} error
 * @param {Record<string, string>} [headers]
 */
function refuse(response, status, error, headers = {}) {
  const refusal = refusalOf(error)
  response.writeHead(status, { ...refusal.headers, ...headers })
  response.end(refusal.body)
}

/**
 * Refuses requests that Node could not parse. Without this, a caller whose headers are too large gets only a status.
 * @param {NodeJS.ErrnoException} error
 * @param {import('node:stream').Duplex} socket
 */
function refuseUnread(error, socket) {
  const answering = [...open].some(({ response }) => response?.socket === socket && response.headersSent)
  if (!socket.writable || answering || error.code === 'ECONNRESET') return socket.destroy()
  const [status, reason] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', TOO_MANY_HEADERS]
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', null]
        : ['400 Bad Request', NOT_HTTP]
  const { headers, body } = reason ? refusalOf(reason) : { headers: { connection: 'close' }, body: '' }
  const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body) })
  socket.end(`HTTP/1.1 ${status}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`)
}

/** @param {{ code: string, message: string, details?: object[] }} error */
function refusalOf({ code, message, details = [] }) {
  const requestId = randomUUID()
  return {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': requestId,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      connection: 'close',
    },
    body: JSON.stringify({ success: false, error: { message, code, details }, requestId }),
  }
}

/**
 * @param {import('node:net').Server} server
 * @param {number} port
 * @param {string | undefined} host
 * @returns {Promise<void>}
 */
function listen(server, port, host) {
  return new Promise((done, fail) => {
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      done()
    })
  })
}

/** @param {import('./web-process').WebMessage} message */
function tell(message) {
  if (process.connected) process.send?.(message)
}

/** @param {number} delayMs */
function leave(delayMs) {
  if (leaving) return
  leaving = true
  // The launcher is about to stop the database, even if something hangs.
  setTimeout(() => process.exit(1), delayMs + WEB_STOP_MS).unref()
  setTimeout(() => void drain().then(() => process.exit(0)), delayMs)
}

/**
 * V8 optimizes a function fully after 3,000 calls. A service calls the same functions for every run, so earlier
 * optimization pays: a new process gets up to speed sooner. Versions that do not know the flag would complain about it.
 */
function optimizeSoon() {
  const major = Number.parseInt(process.versions.node, 10)
  if (major >= 22 && major <= 24) setFlagsFromString('--invocation-count-for-turbofan=800')
}

surviveLostOutput()
optimizeSoon()
// The Inngest SDK copies the environment on every call, and npm adds about a hundred variables to it.
for (const name of Object.keys(process.env)) if (name.startsWith('npm_')) delete process.env[name]
process.on('SIGTERM', () => leave(stopDelayMs(process.env)))
process.on('SIGINT', () => leave(0))
// The launcher died: stop as if it had asked. The next launcher waits for this process.
process.on('disconnect', () => leave(0))
serve().catch(async (error) => {
  const message = `The web process could not start: ${error.message.replace(/\.$/, '')}.`
  if (!process.connected) process.stderr.write(`${message}\n`)
  if (leaving) return // it exits once it has drained
  // The engine works before Next has prepared. The launcher kills this process when it learns of the failure.
  if (runtime) {
    leaving = true
    setTimeout(() => process.exit(1), WEB_STOP_MS).unref()
    await drain()
  }
  tell({ type: 'failed', code: error.code, message })
  process.exitCode = 1
  setTimeout(() => process.exit(1), 100) // allows time to send the message
})
