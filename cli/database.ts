import { setTimeout as sleep } from 'node:timers/promises'
import { isUnavailable, sqlState, withDeadline } from '@/db/deadline'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@/db/embedded'
import { migrate } from '@/db/migrate'
import { asAdmin } from '@/db/postgres/probe'
import { CannotStart } from './print'

/** The embedded server, with what goes wrong told in a sentence. */
export async function startDatabase(dataDir: string, log: (message: string) => void): Promise<EmbeddedPostgres> {
  try {
    return await startEmbeddedPostgres({ dataDir: `${dataDir}/postgres`, log })
  } catch (error) {
    throw new CannotStart(error instanceof Error ? error.message : String(error))
  }
}

const PATIENCE_MS = 30_000

const REFUSALS: Record<string, string> = {
  '28P01': 'the server refuses the user name or password',
  '28000': 'the server refuses the user',
  '3D000': 'the server has no such database',
}

/** Waits for a database that is somebody else's to start: in a compose file both start together. */
export async function reachDatabase(url: string, log: (message: string) => void, signal: AbortSignal): Promise<void> {
  const where = address(url)
  for (const until = Date.now() + PATIENCE_MS; ; ) {
    try {
      await withDeadline(5_000, () => asAdmin(url, (sql) => sql`select 1`))
      return
    } catch (error) {
      const refusal = REFUSALS[sqlState(error) ?? '']
      if (refusal) throw new CannotStart(`DATABASE_URL is wrong: ${refusal} (${where}).`)
      const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
      if (!isUnavailable(error) || Date.now() > until) {
        throw new CannotStart(`The database of DATABASE_URL cannot be used: ${reason} (${where}).`)
      }
      log(`waiting for the database at ${where} (${reason})`)
      await sleep(2_000, undefined, { signal })
    }
  }
}

/** Brings the schema up to date, with what goes wrong told in a sentence. */
export async function migrateDatabase(url: string): Promise<void> {
  try {
    await migrate(url)
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw new CannotStart(`The database could not be migrated: ${cause instanceof Error ? cause.message : cause}.`)
  }
}

/** Host and database of a URL, without what must not be shown. */
function address(url: string): string {
  const { host, pathname, searchParams } = new URL(url)
  return `${searchParams.get('host') ?? host}${pathname}`
}
