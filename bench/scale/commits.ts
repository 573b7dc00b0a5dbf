import { startEmbeddedPostgres } from '@/db/embedded'
import { openDriver } from '@/db/url'
import { loop } from '../drive'

export interface Commits {
  callers: number
  /** Single-row inserts committed per second. */
  plain: number
  /** The same, if each also notifies, as the end of every run does. */
  notifying: number
}

const SECONDS = 4

/**
 * The cost of notifying: Postgres serialises the commits of transactions that notify, so they do not share the flush of
 * the log. On a server with the product's settings, which flushes.
 */
export async function measureCommits(dataDir: string): Promise<Commits[]> {
  const server = await startEmbeddedPostgres({ dataDir, log: () => {} })
  const found: Commits[] = []
  try {
    for (const callers of [1, 16, 64]) {
      const sql = openDriver(server.url, { max: callers })
      await sql`create table if not exists commits (id bigint generated always as identity primary key, body text)`
      const rate = async (insert: () => PromiseLike<unknown>) => {
        const done = await loop(callers, SECONDS, async () => {
          const begun = performance.now()
          await insert()
          return performance.now() - begun
        })
        return done.ms.length / done.seconds
      }
      const plain = await rate(() => sql`insert into commits (body) values ('x')`)
      const notifying = await rate(
        () => sql`with i as (insert into commits (body) values ('x') returning 1) select pg_notify('runs', '1') from i`,
      )
      found.push({ callers, plain, notifying })
      await sql.end()
    }
  } finally {
    await server.stop()
  }
  return found
}
