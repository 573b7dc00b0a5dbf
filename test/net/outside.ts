import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net'

/** A server that must never be reached: counts all connections. */
export interface Canary {
  port: number
  hits(): number
  stop(): Promise<void>
}

export async function startCanary(host = '127.0.0.1'): Promise<Canary> {
  let hits = 0
  const open = new Set<Socket>()
  const server = createTcp((socket) => {
    hits += 1
    open.add(socket)
    socket.on('error', () => {})
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret')
  })
  await new Promise<void>((done) => server.listen(0, host, done))
  return {
    port: (server.address() as AddressInfo).port,
    hits: () => hits,
    stop: () => {
      for (const socket of open) socket.destroy()
      return new Promise((done) => server.close(() => done()))
    },
  }
}

export interface Seen {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

/** A server in the outside world that records its requests. */
export interface Outside {
  url: string
  port: number
  seen: Seen[]
  stop(): Promise<void>
}

export async function startOutside(
  answer: (seen: Seen, response: ServerResponse) => void | Promise<void>,
): Promise<Outside> {
  const seen: Seen[] = []
  const server = createHttp(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = request
    const asked = { method, url, headers, body: Buffer.concat(chunks).toString() }
    seen.push(asked)
    await answer(asked, response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    stop: () => {
      server.closeAllConnections()
      return new Promise((done) => server.close(() => done()))
    },
  }
}
