import { connect, createServer, type Socket } from 'node:net'

/** A pooler in transaction mode without support for prepared statements, like PgBouncer before 1.21. */
export interface Pooler {
  url: string
  close(): Promise<void>
}

/** A connection to the server, lent to a client for one transaction at a time. */
interface Backend {
  socket: Socket
  client: Client | null
}

interface Client {
  socket: Socket
  backend: Backend | null
  /** Sent while no connection was free. */
  waiting: Buffer[]
}

const READY = 'Z'.charCodeAt(0)

/** Starts a pooler with a few connections in front of the server at a `?host=` URL, which must require no password. */
export async function startPooler(databaseUrl: string, size = 3): Promise<Pooler> {
  const target = new URL(databaseUrl)
  const path = `${target.searchParams.get('host')}/.s.PGSQL.5432`
  const startup = startupMessage(target.username, target.pathname.slice(1))
  const backends: Backend[] = []
  const queue: Client[] = []
  let greeting: Buffer | undefined

  async function openBackend(): Promise<Backend> {
    const socket = connect(path)
    const backend: Backend = { socket, client: null }
    let rest = Buffer.alloc(0)
    let greeted = Buffer.alloc(0)
    let started = false
    socket.on('error', () => {})
    await new Promise<void>((done) => {
      socket.on('data', (data: Buffer) => {
        rest = Buffer.concat([rest, data])
        for (let message = take(); message; message = take()) {
          if (!started) greeted = Buffer.concat([greeted, message])
          else backend.client?.socket.write(message)
          if (message[0] !== READY) continue
          if (!started) {
            started = true
            greeting ??= greeted
            done()
          } else if (message[5] === 'I'.charCodeAt(0)) free(backend)
        }
      })
      socket.write(startup)
    })
    backends.push(backend)
    return backend

    function take(): Buffer | undefined {
      if (rest.length < 5 || rest.length < rest.readUInt32BE(1) + 1) return undefined
      const length = rest.readUInt32BE(1) + 1
      const message = rest.subarray(0, length)
      rest = rest.subarray(length)
      return message
    }
  }

  function free(backend: Backend): void {
    if (backend.client) backend.client.backend = null
    backend.client = null
    const next = queue.shift()
    if (next) lend(backend, next)
  }

  function lend(backend: Backend, client: Client): void {
    backend.client = client
    client.backend = backend
    for (const data of client.waiting.splice(0)) backend.socket.write(data)
  }

  /** Its client left in the middle of a transaction. */
  function replace(backend: Backend): void {
    backends.splice(backends.indexOf(backend), 1)
    backend.socket.destroy()
    openBackend().then(free, () => {})
  }

  await Promise.all(Array.from({ length: size }, openBackend))
  const server = createServer((socket) => {
    const client: Client = { socket, backend: null, waiting: [] }
    let started = false
    socket.on('error', () => {})
    socket.on('data', (data: Buffer) => {
      if (!started) {
        started = true
        socket.write(greeting ?? Buffer.alloc(0))
        return
      }
      if (data[0] === 'X'.charCodeAt(0)) return void socket.destroy()
      if (client.backend) return void client.backend.socket.write(data)
      client.waiting.push(data)
      // The connection used last comes first, as in PgBouncer.
      const idle = backends.findLast((backend) => !backend.client)
      if (idle) lend(idle, client)
      else if (!queue.includes(client)) queue.push(client)
    })
    socket.once('close', () => {
      if (queue.includes(client)) queue.splice(queue.indexOf(client), 1)
      if (client.backend) replace(client.backend)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  return {
    url: `postgres://${target.username}@127.0.0.1:${port}${target.pathname}`,
    async close() {
      for (const socket of [...sockets, ...backends.map(({ socket }) => socket)]) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}

function startupMessage(user: string, database: string): Buffer {
  const body = Buffer.from(`user\0${user}\0database\0${database}\0\0`)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8, 0)
  head.writeUInt32BE(196_608, 4)
  return Buffer.concat([head, body])
}
