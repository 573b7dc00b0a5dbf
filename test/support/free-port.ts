import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A free port on loopback, for a process that needs one in its settings. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}
