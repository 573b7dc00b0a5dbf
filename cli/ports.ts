import { createServer } from 'node:net'
import { hostsToBind } from './common.mjs'
import { CannotStart } from './print'

/**
 * The port to listen on. One that was asked for must be free; the default gives way to the next free one.
 * @throws CannotStart when the asked one is taken
 */
export async function choosePort(wanted: { port: number; portIsDefault: boolean; host: string | undefined }) {
  const hosts = hostsToBind(wanted.host)
  if (wanted.port === 0) return { port: await anyFreePort(hosts[0] ?? '127.0.0.1'), moved: false }
  if (await isFree(wanted.port, hosts)) return { port: wanted.port, moved: false }
  if (!wanted.portIsDefault) {
    throw new CannotStart(`Port ${wanted.port} (PORT) is already in use; stop what uses it or set another PORT.`)
  }
  for (let port = wanted.port + 1; port < wanted.port + 100; port++) {
    if (await isFree(port, hosts)) return { port, moved: true }
  }
  throw new CannotStart(`No port from ${wanted.port} to ${wanted.port + 99} is free; set PORT to one that is.`)
}

async function isFree(port: number, hosts: string[]): Promise<boolean> {
  for (const host of hosts) {
    const code = await tryListen(port, host)
    if (code === 'EACCES') throw new CannotStart(`Port ${port} (PORT) needs more rights; use one from 1024 on.`)
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
