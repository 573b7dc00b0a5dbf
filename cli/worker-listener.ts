import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as health from '@/app/api/health/route'
import * as metrics from '@/app/api/metrics/route'
import { createApiListener } from '@/server/rest/listener/create'
import { hostsToBind } from './common.mjs'

/**
 * Answers health and metrics requests to a worker, and no others.
 * @param host as for the web process: this machine alone by default
 */
export async function listenForProbes(
  port: number,
  host: string | undefined,
): Promise<{ port: number; close(): void }> {
  const answer = createApiListener({ '/api/health': health, '/api/metrics': metrics })
  const servers: Server[] = []
  let actual = port
  for (const address of hostsToBind(host)) {
    const server = createServer((request, response) => {
      if (!answer(request, response)) response.writeHead(404).end()
    })
    try {
      await new Promise<void>((done, fail) => server.once('error', fail).listen(actual, address, done))
    } catch (error) {
      // A machine without IPv6.
      if (servers.length === 0 || (error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw error
      continue
    }
    actual = (server.address() as AddressInfo).port
    servers.push(server)
  }
  return {
    port: actual,
    close() {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}
