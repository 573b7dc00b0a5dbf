import { createServer, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import next from 'next'
import { hostsToBind } from './ports'
import { surviveLostOutput } from './print'

/** What this process tells the launcher. */
export type WebMessage = { type: 'ready'; port: number } | { type: 'failed'; code: string | undefined; message: string }

/** How long running steps and open requests may take to end. */
export const GRACE_MS = 10_000

/** What `instrumentation.ts` leaves on globalThis. */
interface Runtime {
  stop(graceMs: number): Promise<void>
}

const dev = process.argv.includes('--dev')
const wantedPort = Number(process.env.PORT ?? 3000)
const [firstHost = '127.0.0.1', ...otherHosts] = hostsToBind(process.env.HOST || undefined)

let draining = false
let open = 0
const http = createServer()
// Longer than load balancers keep idle connections, so that they do not send into one that is being closed.
http.keepAliveTimeout = 65_000
const doors: Server[] = []

async function serve(): Promise<void> {
  const app = next({ dev, dir: process.cwd(), hostname: 'localhost', port: wantedPort, httpServer: http, quiet: !dev })
  await app.prepare()
  const answer = app.getRequestHandler()
  http.on('request', (request, response) => {
    if (draining) return refuse(response)
    open += 1
    response.once('close', () => {
      open -= 1
    })
    answer(request, response).catch(() => response.destroy())
  })
  await listen(http, wantedPort, firstHost)
  const address = http.address()
  const port = typeof address === 'object' && address ? address.port : wantedPort
  // One HTTP server behind every address, so that draining and upgrades need not know how many there are.
  for (const host of otherHosts) {
    const door = createTcpServer((socket) => http.emit('connection', socket))
    await listen(door, port, host).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') throw error // else a machine without IPv6
    })
    doors.push(door)
  }
  tell({ type: 'ready', port })
}

/** Ends what runs within the grace, in the order in which it depends on each other, and leaves. */
async function drain(): Promise<void> {
  if (draining) return
  // In dev the engine calls the functions over HTTP, so requests must be answered until it has stopped.
  if (dev) await stopRuntime()
  draining = true
  for (const door of [http, ...doors]) door.close()
  await Promise.all([dev ? undefined : stopRuntime(), allAnswered()])
  http.closeAllConnections()
  process.exit(0)
}

async function stopRuntime(): Promise<void> {
  const runtime = (globalThis as unknown as Record<symbol, Runtime | undefined>)[Symbol.for('millrace.runtime')]
  await runtime?.stop(GRACE_MS).catch(() => {})
}

async function allAnswered(): Promise<void> {
  for (const until = Date.now() + GRACE_MS; open > 0 && Date.now() < until; ) await sleep(20)
}

/** Answers what still comes in over connections that were open already. */
function refuse(response: ServerResponse): void {
  response.writeHead(503, { connection: 'close', 'retry-after': '1', 'content-type': 'application/json' })
  response.end('{"error":{"code":"UNAVAILABLE","message":"The service is stopping."}}')
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      done()
    })
  })
}

function tell(message: WebMessage): void {
  if (process.connected) process.send?.(message)
}

function leave(): void {
  // Whatever hangs, the launcher's database is about to go away.
  setTimeout(() => process.exit(1), GRACE_MS + 3_000).unref()
  void drain()
}

surviveLostOutput()
// The Inngest SDK copies the environment on every call, and npm puts a hundred variables into it.
for (const name of Object.keys(process.env)) if (name.startsWith('npm_')) delete process.env[name]
process.on('SIGTERM', leave)
process.on('SIGINT', leave)
// The launcher has died: end as it would have asked to. Its next start waits for this process.
process.on('disconnect', leave)
serve().catch((error: NodeJS.ErrnoException) => {
  tell({ type: 'failed', code: error.code, message: error.message })
  if (!process.connected) process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
  setTimeout(() => process.exit(1), 100)
})
