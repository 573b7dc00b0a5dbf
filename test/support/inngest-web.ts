import { inngestSettings } from './inngest-settings'
import { startWeb, type Web } from './service'

/** Starts a web process that such a server calls, on the same port at each start. */
export async function startInngestWeb(options: Parameters<typeof startWeb>[0] & { port: number }): Promise<Web> {
  const { port, env, ...others } = options
  const address = { PORT: String(port), INNGEST_SERVE_ORIGIN: `http://127.0.0.1:${port}` }
  return startWeb({ ...others, env: { ...inngestSettings(), ...address, ...env } })
}
