import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createEngine, type Engine, type EngineOptions } from '@/inngest/engine/index'
import { listenOn } from '../../engine/node'
import { freshDatabase } from '../db'

const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }

/** An Inngest server that speaks the real protocol over HTTP: signed calls, events, checkpoints and registration. */
export interface InngestServer {
  url: string
  eventKey: string
  signingKey: string
  /** The address of the functions, once registered. */
  registered(): string | null
  /** Names of the events it has accepted. */
  taken: string[]
  /** Accepts events without acting on them, so that it makes no calls, until the returned function is called. */
  hold(): () => Promise<void>
  /** Forgets every run, as a server that has lost its state does. */
  forget(): Promise<void>
  stop(): Promise<void>
}

/** The embedded engine on a database of its own, behind HTTP. */
export async function startInngest(): Promise<InngestServer> {
  const database = await freshDatabase()
  const signingKey = `signkey-test-${'ab'.repeat(32)}`
  const taken: string[] = []
  let engine: Engine | undefined
  let held: (() => Promise<unknown>)[] | undefined
  let address: string | null = null

  async function register(url: string, registration: string): Promise<void> {
    if (url === address) return
    await engine?.stop({ graceMs: 0 })
    engine = createEngine({
      sql: database.sql,
      listen: (channel, heard) => listenOn(database.sql, channel, heard),
      // Its functions are registered, so it need not read them.
      handler: (call, signal) =>
        call.method === 'PUT'
          ? Promise.resolve({ status: 200, headers: {}, body: registration })
          : callOverHttp(call, signal),
      signingKey,
      appUrl: url,
      bootId: `boot-${Date.now()}`,
      hostId: 'inngest',
      log,
      retryDelayMs: () => 500,
    })
    address = url
    await engine.start()
  }

  const server = createServer(async (incoming, outgoing) => {
    const answer = (status: number, body: unknown) =>
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    try {
      const text = await textOf(incoming)
      if (incoming.url?.startsWith('/fn/register')) {
        if (!incoming.headers.authorization?.startsWith('Bearer signkey-test-')) return answer(401, { error: 'no key' })
        await register((JSON.parse(text) as { url: string }).url, text)
        return answer(200, { status: 200, skipped: false, modified: true })
      }
      if (incoming.url?.startsWith('/e/')) {
        const sent = [JSON.parse(text)].flat() as { name: string }[]
        taken.push(...sent.map(({ name }) => name))
      }
      // Without functions, events trigger nothing.
      if (!engine) return answer(200, { ids: [], status: 200 })
      const { fetch } = engine
      const take = () =>
        fetch(`http://inngest${incoming.url}`, {
          method: incoming.method ?? 'GET',
          headers: incoming.headers as Record<string, string>,
          body: text,
        })
      if (held && incoming.url?.startsWith('/e/')) {
        held.push(take)
        return answer(200, { ids: [], status: 200 })
      }
      const response = await take()
      outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text())
    } catch (error) {
      answer(500, { error: String(error), status: 500 })
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    eventKey: 'event-key-of-the-preview',
    signingKey,
    taken,
    registered: () => address,
    hold() {
      const waiting: (() => Promise<unknown>)[] = []
      held = waiting
      return async () => {
        held = undefined
        for (const take of waiting) await take()
      }
    },
    async forget() {
      await database.sql`truncate engine.runs, engine.jobs, engine.steps, engine.waits cascade`
    },
    async stop() {
      await engine?.stop({ graceMs: 0 })
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
      await database.close()
    },
  }
}

const callOverHttp: EngineOptions['handler'] = async (
  { method, url, headers: { host: _, ...headers }, body },
  signal,
) => {
  const response = await fetch(url, { method, headers, body: JSON.stringify(body), signal })
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk
  return text
}
