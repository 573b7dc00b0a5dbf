import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { InngestServer } from './inngest'

/**
 * The real Inngest server that the environment names, behind a proxy that sees its requests. Only one with keys: a
 * deployment refuses a dev server.
 */
export async function reachInngest(settings: {
  INNGEST_BASE_URL: string
  INNGEST_EVENT_KEY: string
  INNGEST_SIGNING_KEY: string
}): Promise<InngestServer> {
  const taken: string[] = []
  let address: string | null = null
  let held: (() => Promise<unknown>)[] | undefined

  const server = createServer(async (incoming, outgoing) => {
    const answer = (status: number, body: string, type = 'application/json') =>
      outgoing.writeHead(status, { 'content-type': type }).end(body)
    try {
      const { url = '/', method = 'GET', headers } = incoming
      const text = await textOf(incoming)
      const pass = () => {
        const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...others } = headers
        const body = method === 'GET' ? {} : { body: text }
        return fetch(new URL(url, settings.INNGEST_BASE_URL), { method, headers: others as never, ...body })
      }
      if (url.startsWith('/fn/register')) address = (JSON.parse(text) as { url: string }).url
      if (url.startsWith('/e/')) {
        taken.push(...([JSON.parse(text)].flat() as { name: string }[]).map(({ name }) => name))
        if (held) {
          held.push(pass)
          return answer(200, '{"ids":[],"status":200}')
        }
      }
      const response = await pass()
      answer(response.status, await response.text(), response.headers.get('content-type') ?? 'application/json')
    } catch (error) {
      answer(500, JSON.stringify({ error: String(error), status: 500 }))
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    eventKey: settings.INNGEST_EVENT_KEY,
    signingKey: settings.INNGEST_SIGNING_KEY,
    taken,
    registered: () => address,
    hold() {
      const waiting: (() => Promise<unknown>)[] = []
      held = waiting
      return async () => {
        held = undefined
        for (const send of waiting) await send()
      }
    },
    forget: () => Promise.reject(new Error('A real server forgets nothing when a test asks.')),
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk
  return text
}
