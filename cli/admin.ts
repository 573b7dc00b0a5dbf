import { parseArgs } from 'node:util'
import { connect, type Db } from '@/db/index'
import { migrate } from '@/db/migrate'
import { outbox } from '@/db/schema/outbox'
import { reasonOf, whenAvailable } from '@/db/wait'
import { setDatabaseUrl } from '@/server/database'
import { env } from '@/server/env'
import { AppError } from '@/server/errors'
import { requireUsable } from '@/server/host/installation'
import { log } from '@/server/log'
import { AS_CODE, COMMANDS, FOLDER_COMMANDS, OPTIONS, type Operator, USAGE, withNumberOfRuns } from './commands'
import { loadDotEnv } from './dot-env'
import { findDatabase } from './find-database'
import { print, printError } from './print'
import { Report } from './report'
import { type Flags, UsageError } from './usage'

async function main(): Promise<number> {
  const { values, positionals } = readArguments()
  const name = positionals.join(' ')
  const work = workOf(name, values)
  if (values.help || !work) {
    if (values.help) print(USAGE)
    else printError(USAGE)
    return values.help ? 0 : 2
  }
  // Use the service's own settings: a different ENCRYPTION_KEY would write data that the service cannot decrypt.
  loadDotEnv(false)
  const result = await work()
  if (result instanceof Report) {
    print(values.json ? JSON.stringify(result.json) : result.text)
    return result.code
  }
  print(values.json ? JSON.stringify(result) : JSON.stringify(result, null, 2))
  return 'healthy' in result && result.healthy === false ? 1 : 0
}

function workOf(name: string, flags: Flags): (() => Promise<object>) | undefined {
  const [onDatabase, onFolder] = [COMMANDS[name], FOLDER_COMMANDS[name]]
  if (onDatabase) return () => withDatabase(onDatabase, flags)
  if (onFolder) return () => onFolder(env(), flags)
  if (!AS_CODE.has(name)) return undefined
  // The other commands do not need the modules that read and write files, half of all there is to load.
  return async () => (await import('./as-code/on-workspace')).onWorkspace(name, flags, withDatabase)
}

async function withDatabase<T>(command: (operator: Operator, flags: Flags) => Promise<T>, flags: Flags): Promise<T> {
  const settings = env()
  const url = findDatabase(settings)
  const waiting = {
    patienceMs: 10_000,
    onWait: (reason: string) => printError(`waiting for the database (${reason})`),
  }
  if (!settings.VERCEL) await whenAvailable(() => migrate(url), waiting)
  setDatabaseUrl(url)
  const database = connect(url)
  try {
    // There, a deployment migrates. A command from a developer's checkout must not do it first.
    if (settings.VERCEL) await whenAvailable(() => requireUsable(database.sql, settings), waiting)
    const result = await command({ db: database.db, sql: database.sql, log: log() }, flags)
    if (settings.engine === 'inngest') await forwardEvents(database.db)
    return result
  } finally {
    await database.close()
  }
}

/** The service may be suspended, so nothing would forward the command's events. */
async function forwardEvents(db: Db): Promise<void> {
  if ((await db.select({ id: outbox.id }).from(outbox).limit(1)).length === 0) return
  const [{ inngest }, { forwardOnce }] = await Promise.all([import('@/inngest/client'), import('@/inngest/relay')])
  await forwardOnce(db, (events) => inngest.send(events as Parameters<typeof inngest.send>[0])).catch((err: unknown) =>
    printError(
      `The Inngest server could not be notified (${reasonOf(err)}); the service notifies it after its next request.`,
    ),
  )
}

function readArguments() {
  try {
    return parseArgs({ args: withNumberOfRuns(process.argv.slice(2)), allowPositionals: true, options: OPTIONS })
  } catch (err) {
    throw new UsageError(err instanceof Error ? err.message : String(err))
  }
}

function explain(err: unknown): string {
  if (!(err instanceof AppError)) return err instanceof Error ? err.message : String(err)
  const details = err.details.map(({ path, message }) => (path ? `${path}: ${message}` : message))
  return [err.message, ...details].join('\n  ')
}

main().then(
  (code) => {
    process.exitCode = code
  },
  (err: unknown) => {
    printError(explain(err))
    // For diff, 2 means that an apply would change something.
    process.exitCode = err instanceof UsageError && process.argv[2] !== 'diff' ? 2 : 1
  },
)
