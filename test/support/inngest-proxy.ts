import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A proxy in front of an Inngest server, which sees the steps that a service reports while a call continues. */
export interface InngestProxy {
  url: string
  /** The names of the reported steps, in order. */
  reported: string[]
  /** The names of the events that were sent, in order. */
  sent: string[]
  /** The server gets the report of this step only once the returned function is called. */
  hold(step: string): () => void
  /** The server never gets the next report of this step. */
  lose(step: string): void
  stop(): Promise<void>
}

export async function startInngestProxy(target: string): Promise<InngestProxy> {
  const reported: string[] = []
  const sent: string[] = []
  const held = new Map<string, Promise<void>>()
  const lost = new Set<string>()
  const server = createServer(async (incoming, outgoing) => {
    try {
      const { url = '/', method = 'GET', headers } = incoming
      const body = await text(incoming)
      const steps = /^\/v1\/checkpoint\/[^/]+\/async/.test(url) ? namesIn(body) : []
      reported.push(...steps)
      if (url.startsWith('/e/')) sent.push(...([JSON.parse(body)].flat() as { name: string }[]).map(({ name }) => name))
      if (steps.some((name) => lost.delete(name))) return void outgoing.writeHead(400).end('{}')
      for (const name of steps) await held.get(name)
      const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...others } = headers
      const sending = method === 'GET' ? {} : { body }
      const response = await fetch(new URL(url, target), { method, headers: others as never, ...sending })
      const type = response.headers.get('content-type') ?? 'application/json'
      outgoing.writeHead(response.status, { 'content-type': type }).end(await response.text())
    } catch (error) {
      outgoing.writeHead(500).end(String(error))
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ reported, sent },
    hold(step) {
      let release = () => {}
      held.set(step, new Promise((done) => (release = done)))
      return () => {
        held.delete(step)
        release()
      }
    },
    lose: (step) => void lost.add(step),
    stop() {
      server.closeAllConnections()
      return new Promise((done) => server.close(() => done()))
    },
  }
}

function namesIn(body: string): string[] {
  const { steps } = JSON.parse(body) as { steps: { displayName?: string; name?: string }[] }
  return steps.map(({ displayName, name = '' }) => displayName ?? name)
}
