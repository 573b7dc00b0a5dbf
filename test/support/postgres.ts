import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@/db/embedded'
import { migrate } from '@/db/migrate'
import { isAlive, isPostmaster, readPidFile } from '@/db/postgres/postmaster'
import { asAdmin } from '@/db/postgres/probe'

/** How test files find their shared server. */
export interface TestServer {
  /** For the superuser. */
  adminUrl: string
  /** A migrated database to copy. Nothing may connect to it. */
  template: string
}

// No durability and no vacuum: a crashed test server is discarded with its databases. No database is dropped earlier:
// ext4 avoids the files deleted in the last minute, so the next database would take 0.4 s longer.
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  // A soak writes so much that its tables need vacuuming, like any others.
  autovacuum: process.env.SOAK_SEED === undefined ? 'off' : 'on',
  max_connections: '300',
}
const PREFIX = 'millrace-test-'

/** One server for a whole test run, in a temporary directory, with a migrated template database. */
export async function startTestServer(): Promise<TestServer & { stop(): Promise<void> }> {
  removeAbandoned()
  const home = temporaryDir()
  const server = await startEmbeddedPostgres({ dataDir: join(home, 'postgres'), log: () => {}, settings: SETTINGS })
  const template = 'millrace_template'
  await asAdmin(server.adminUrl, (sql) => sql.unsafe(`create database ${template} owner millrace`))
  await migrate(databaseUrl(server.adminUrl, template))
  return {
    adminUrl: server.adminUrl,
    template,
    async stop() {
      await server.stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** The URL of the role `millrace` in another database on the same server. */
export function databaseUrl(adminUrl: string, database: string): string {
  const url = new URL(adminUrl)
  url.username = 'millrace'
  url.pathname = `/${database}`
  return url.href
}

/** This run's directory, which the server's own account may enter. A later run removes it if this one cannot. */
export function temporaryDir(): string {
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  chmodSync(path, 0o755)
  return path
}

/** Stops servers left by earlier runs that were killed, and removes their directories. */
function removeAbandoned(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = name.startsWith(PREFIX) ? Number(name.split('-').at(2)) : 0
    if (!owner || isAlive(owner)) continue
    const home = join(tmpdir(), name)
    for (const dataDir of [join(home, 'postgres'), join(home, 'data/postgres')]) {
      const server = readPidFile(dataDir)
      if (server && isPostmaster(server.pid, dataDir)) process.kill(server.pid, 'SIGQUIT')
    }
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}
