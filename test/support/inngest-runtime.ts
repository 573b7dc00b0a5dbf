import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { inngestSettings } from './inngest-settings'
import { startTestRuntime, type TestRuntime } from './runtime'

type Route = (request: Request, context: unknown) => Promise<Response>

/**
 * The product in this process, with its runs on the Inngest server that `settings` or the environment names: a dev
 * server, or a self-hosted one with the configured keys. It calls the functions over HTTP, at a port of this machine.
 * @param answered replaces the answer to a call
 */
export async function startInngestRuntime(
  databaseUrl: string,
  settings: Record<string, string> = {},
  answered: (answer: Response, call: string) => Response | Promise<Response> = (answer) => answer,
): Promise<TestRuntime> {
  let routes: Partial<Record<string, Route>> = {}
  const server = createServer(async (incoming, outgoing) => {
    try {
      const { method = 'GET', headers } = incoming
      const body = method === 'GET' ? null : await text(incoming)
      const url = `http://${headers.host}${incoming.url}`
      const route = routes[method]
      const own = await route?.(new Request(url, { method, headers: headers as never, body }), {})
      const answer = own && (await answered(own, body ?? ''))
      outgoing.writeHead(answer?.status ?? 503, Object.fromEntries(answer?.headers ?? []))
      outgoing.end(await answer?.text())
    } catch (error) {
      outgoing.writeHead(500).end(String(error))
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const runtime = await startTestRuntime(databaseUrl, {
    ...(settings.INNGEST_BASE_URL ? {} : inngestSettings()),
    INNGEST_SERVE_ORIGIN: `http://127.0.0.1:${port}`,
    ...settings,
  })
  routes = (await import('@/app/api/inngest/route')) as unknown as typeof routes
  return {
    ...runtime,
    async stop() {
      await runtime.stop()
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
