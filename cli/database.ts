import { sqlState, withDeadline } from '@/db/deadline'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@/db/embedded'
import { migrate } from '@/db/migrate'
import { asAdmin } from '@/db/postgres/probe'
import { reasonOf, whenAvailable } from '@/db/wait'
import { CannotStart } from './print'

/** Starts the embedded server. @throws CannotStart */
export async function startDatabase(dataDir: string, log: (message: string) => void): Promise<EmbeddedPostgres> {
  try {
    return await startEmbeddedPostgres({ dataDir: `${dataDir}/postgres`, log })
  } catch (error) {
    throw new CannotStart(error instanceof Error ? error.message : String(error))
  }
}

const REFUSALS: Record<string, string> = {
  '28P01': 'the server refuses the user name or password',
  '28000': 'the server refuses the user',
  '3D000': 'the server has no such database',
}

/** Waits until the database at DATABASE_URL answers. @throws CannotStart */
export async function reachDatabase(url: string, log: (message: string) => void, signal: AbortSignal): Promise<void> {
  const where = address(url)
  const ask = () => withDeadline(5_000, () => asAdmin(url, (sql) => sql`select 1`))
  const onWait = (reason: string) => log(`waiting for the database at ${where} (${reason})`)
  try {
    await whenAvailable(ask, { onWait, signal })
  } catch (error) {
    const refusal = REFUSALS[sqlState(error) ?? '']
    if (refusal) throw new CannotStart(`DATABASE_URL is wrong: ${refusal} (${where}).`)
    throw new CannotStart(`The database of DATABASE_URL cannot be used: ${reasonOf(error)} (${where}).`)
  }
}

/** Brings the schema up to date. @throws CannotStart */
export async function migrateDatabase(url: string, log: (message: string) => void, signal: AbortSignal): Promise<void> {
  try {
    await whenAvailable(() => migrate(url), { onWait: (reason) => log(`waiting for the database (${reason})`), signal })
  } catch (error) {
    throw new CannotStart(`The database could not be migrated: ${reasonOf(error)}.`)
  }
}

/** The host and database of a URL, without the password. */
function address(url: string): string {
  const { host, pathname, searchParams } = new URL(url)
  return `${searchParams.get('host') ?? host}${pathname}`
}
