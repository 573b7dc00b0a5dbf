import { createServer } from 'node:net'
import { hostsToBind } from './common.mjs'
import { CannotStart } from './print'

const PORTS_TRIED = 100

/**
 * Chooses the port to listen on. An explicit port must be free; the default moves on to the next free one.
 * @throws CannotStart if no port can be used
 */
export async function choosePort(wanted: { port: number; portIsDefault: boolean; host: string | undefined }) {
  const hosts = hostsToBind(wanted.host)
  if (wanted.port === 0) return { port: await anyFreePort(hosts[0] ?? '127.0.0.1'), moved: false }
  if (await isFree(wanted.port, hosts)) return { port: wanted.port, moved: false }
  if (!wanted.portIsDefault) {
    throw new CannotStart(`Port ${wanted.port} (PORT) is already in use. Stop what uses it, or set another PORT.`)
  }
  const last = wanted.port + PORTS_TRIED - 1
  for (let port = wanted.port + 1; port <= last; port++) {
    if (await isFree(port, hosts)) return { port, moved: true }
  }
  throw new CannotStart(`No port from ${wanted.port} to ${last} is free. Set PORT to one that is.`)
}

async function isFree(port: number, hosts: string[]): Promise<boolean> {
  for (const host of hosts) {
    const code = await tryListen(port, host)
    if (code === 'EACCES')
      throw new CannotStart(`Port ${port} (PORT) is reserved for administrators. Use 1024 or above.`)
    if (code === 'EADDRINUSE') return false
    if (code && host !== '::1') throw new CannotStart(`Cannot listen on ${host} (HOST): ${code}.`)
  }
  return true
}

function tryListen(port: number, host: string): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message))
    server.listen({ port, host, exclusive: true }, () => server.close(() => done(undefined)))
  })
}

function anyFreePort(host: string): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer()
    server.once('error', fail)
    server.listen(0, host, () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
