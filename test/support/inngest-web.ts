import { createServer } from 'node:net'
import { inngestSettings } from './inngest-settings'
import { startWeb, type Web } from './service'

/** Starts a web process that such a server calls, at a port that stays the same from one start to the next. */
export async function startInngestWeb(options: Parameters<typeof startWeb>[0] & { port: number }): Promise<Web> {
  const { port, env, ...others } = options
  const address = { PORT: String(port), INNGEST_SERVE_ORIGIN: `http://127.0.0.1:${port}` }
  return startWeb({ ...others, env: { ...inngestSettings(), ...address, ...env } })
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  await new Promise((done) => server.close(done))
  return typeof address === 'object' && address ? address.port : 0
}
