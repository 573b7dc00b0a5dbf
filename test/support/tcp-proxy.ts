import { connect, createServer, type Socket } from 'node:net'

/** A link to Postgres that can fail in the ways real ones do. */
export interface TcpProxy {
  /** The database's URL through the proxy. */
  url: string
  /** From now on bytes are neither delivered nor refused, on open and new connections. */
  stall(): void
  /** The same, but the client's bytes still arrive. */
  stallAnswers(): void
  /** New connections work again. Stalled ones stay stalled, as after a lost route. */
  recover(): void
  /** Resets every connection, and new ones until `recover`. */
  cut(): void
  /** Connections accepted so far. */
  accepted(): number
  close(): Promise<void>
}

/** Starts a proxy in front of the server at a `?host=` URL. */
export async function startProxy(databaseUrl: string): Promise<TcpProxy> {
  const target = new URL(databaseUrl)
  const path = `${target.searchParams.get('host')}/.s.PGSQL.5432`
  let mode: 'pass' | 'stall' | 'cut' = 'pass'
  let accepted = 0
  const links = new Set<{ client: Socket; upstream: Socket | undefined }>()

  const server = createServer((client) => {
    accepted += 1
    client.on('error', () => {})
    if (mode === 'cut') return client.resetAndDestroy()
    const upstream = mode === 'pass' ? connect(path) : undefined
    const link = { client, upstream }
    links.add(link)
    client.once('close', () => {
      links.delete(link)
      upstream?.destroy()
    })
    if (!upstream) return client.pause()
    upstream.on('error', () => client.destroy())
    upstream.once('close', () => client.destroy())
    client.pipe(upstream)
    upstream.pipe(client)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0

  const stallAnswers = () => {
    mode = 'stall'
    for (const { upstream } of links) {
      upstream?.unpipe()
      upstream?.pause()
    }
  }

  return {
    url: `postgres://${target.username}@127.0.0.1:${port}${target.pathname}`,
    stall() {
      stallAnswers()
      for (const { client } of links) {
        client.unpipe()
        client.pause()
      }
    },
    stallAnswers,
    recover() {
      mode = 'pass'
    },
    cut() {
      mode = 'cut'
      for (const { client } of links) client.resetAndDestroy()
    },
    accepted: () => accepted,
    async close() {
      for (const { client } of links) client.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}
