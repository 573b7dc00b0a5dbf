import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDatabase, withDeadline } from '@/db/index'
import type { Env } from '@/server/env'
import { isLoopbackUrl } from '@/server/tenants/setup/local'
import { setupToken } from '@/server/tenants/setup/token'
import { printBanner } from './banner'
import { ensureBuild } from './build'
import { WEB_STOP_MS } from './common.mjs'
import { credentialsFile, draftCredentials, settleCredentials } from './credentials'
import { claimDataDir, markStopping, writeRunFile } from './data-dir'
import { migrateDatabase, reachDatabase, startDatabase } from './database'
import { becomesHealthy } from './healthy'
import { choosePort } from './ports'
import { CannotStart, print, printError } from './print'
import { end, refOf } from './processes'
import { aborted, keepRunning } from './supervise'
import { EXIT_MS, Killed, PortTaken, startWeb, type WebProcess } from './web-process'

export interface Flags {
  dev: boolean
  json: boolean
  /** Shows the build's output. */
  verbose: boolean
}

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const SEED_MS = 60_000

/** Runs the service until it is asked to stop or fails to start. Everything it started has ended when this returns. */
export async function launch(env: Env, flags: Flags, stop: AbortSignal): Promise<void> {
  const startedAt = Date.now()
  // A failure aborts it too, so that nothing restarts during shutdown.
  const ending = new AbortController()
  const signal = AbortSignal.any([stop, ending.signal])
  const log = (message: string) => (flags.json ? printError : print)(`  ${message}`)
  const undo: (() => void | Promise<void>)[] = []
  try {
    const service = await start(env, flags, signal, log, undo)
    await announce(service, flags, startedAt)
    await aborted(signal)
  } catch (error) {
    if (!stop.aborted) throw error
  } finally {
    ending.abort()
    for (const step of undo.reverse()) await step()
  }
}

interface Service {
  env: Env
  url: string
  port: number
  webPid: number
  tenantId: string
  apiKey: string | undefined
  created: boolean
  /** True until the service has an owner. */
  needsOwner: boolean
}

async function start(
  env: Env,
  flags: Flags,
  signal: AbortSignal,
  log: (message: string) => void,
  undo: (() => void | Promise<void>)[],
): Promise<Service> {
  const { dataDir } = env
  const output = flags.json ? 'stderr' : 'inherit'

  const claim = await claimDataDir(dataDir, env.DATABASE_URL !== undefined)
  undo.push(claim.release)
  // After a launcher is killed, its web process shuts down by itself and holds the port until then.
  if (claim.previous) await end(claim.previous.web, WEB_STOP_MS)

  const chosen = await choosePort({ port: env.port, portIsDefault: env.portIsDefault, host: env.HOST })
  if (chosen.moved) log(`port ${env.port} is in use; using ${chosen.port}`)
  if (!flags.dev) await ensureBuild({ root: ROOT, log, signal, ...(flags.verbose ? { output } : {}) })
  signal.throwIfAborted()

  const databaseUrl = env.DATABASE_URL ?? (await keepPostgres(dataDir, log, signal, undo))
  if (env.DATABASE_URL) await reachDatabase(databaseUrl, log, signal)
  signal.throwIfAborted()
  await migrateDatabase(databaseUrl, log, signal)

  const baseUrl = env.PUBLIC_URL?.replace(/\/$/, '') ?? `http://localhost:${chosen.port}`
  let web: WebProcess | undefined
  undo.push(() => pausedRuns(databaseUrl, log))
  const stopMs = EXIT_MS + env.STOP_DELAY_MS
  undo.push(() => web?.stop(stopMs))
  if (claim.owned) undo.push(() => markStopping(dataDir, stopMs))
  const startOne = async () => {
    web = startWeb({
      root: ROOT,
      dev: flags.dev,
      output,
      env: {
        PORT: String(chosen.port),
        DATABASE_URL: databaseUrl,
        DATA_DIR: dataDir,
        PUBLIC_URL: baseUrl,
        // Only for an explicitly configured address: a local start answers on both `localhost` and 127.0.0.1.
        ...(env.PUBLIC_URL && !env.NEXTAUTH_URL ? { NEXTAUTH_URL: baseUrl } : {}),
        ...(env.DATABASE_URL ? {} : { MILLRACE_EMBEDDED: '1' }),
      },
    })
    if (claim.owned) writeRunFile(dataDir, { url: baseUrl, launcher: refOf(process.pid), web: refOf(web.pid) })
    await becomesHealthy(web, { host: env.HOST, port: chosen.port, dev: flags.dev, signal })
    return web
  }
  const mayPass = (error: unknown) => error instanceof Killed
  const running = keepRunning({ name: 'web process', start: startOne, mayPass, log, signal }).catch(
    (error: unknown) => {
      if (error instanceof PortTaken)
        throw new CannotStart(`Another program has just taken port ${chosen.port}. Start Millrace again.`)
      throw new CannotStart(error instanceof Error ? error.message : String(error))
    },
  )
  // Run both in parallel, as they take about equally long. Announce the service only when both are done.
  const [first, booted] = await Promise.all([running, seed(env, databaseUrl, baseUrl)])
  return { env, url: baseUrl, port: chosen.port, webPid: first.pid, ...booted }
}

/** The embedded server, running until the service stops. @returns its URL */
async function keepPostgres(
  dataDir: string,
  log: (message: string) => void,
  signal: AbortSignal,
  undo: (() => void | Promise<void>)[],
): Promise<string> {
  let starting: ReturnType<typeof startDatabase> | undefined
  // Also stop a server that is still starting, or it would come up after everything else has stopped.
  undo.push(async () => (await starting?.catch(() => undefined))?.stop())
  const start = () => {
    starting = startDatabase(dataDir, log)
    return starting
  }
  return (await keepRunning({ name: 'database', start, log, signal })).url
}

/** Seeds an empty database. The key is on disk before the database stores it. */
async function seed(env: Env, url: string, baseUrl: string) {
  const draft = draftCredentials(env.dataDir, { tenantId: env.BOOTSTRAP_TENANT_ID, apiKey: env.BOOTSTRAP_API_KEY })
  // Imported late because it loads the whole product, which nothing before this needs.
  const { firstBoot } = await import('@/server/tenants/boot/seed')
  const { hasOwner } = await import('@/server/tenants/setup/state')
  const database = openDatabase(url, { max: 2 })
  try {
    const { tenantId, apiKey } = await withDeadline(SEED_MS, () =>
      firstBoot(database.db, { BOOTSTRAP_TENANT_ID: draft.tenantId, BOOTSTRAP_API_KEY: draft.apiKey }),
    )
    const created = apiKey !== null
    settleCredentials(env.dataDir, draft, { baseUrl, tenantId, created })
    const needsOwner = !(await withDeadline(SEED_MS, () => hasOwner(database.db)))
    return { tenantId, created, apiKey: apiKey ?? undefined, needsOwner }
  } finally {
    await database.close()
  }
}

async function announce(service: Service, flags: Flags, startedAt: number): Promise<void> {
  const { env, url, port, webPid, tenantId, created, needsOwner } = service
  const version = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version
  const file = credentialsFile(env.dataDir)
  if (flags.json) {
    const embedded = !env.DATABASE_URL
    const line = {
      event: 'ready',
      url,
      port,
      tenantId,
      pid: process.pid,
      webPid,
      version,
      created,
      embedded,
      needsOwner,
    }
    return print(JSON.stringify({ ...line, credentialsFile: file }))
  }
  // With an external database or a public address, others may read the output, so the key stays in its file.
  const mayShow = !env.DATABASE_URL && isLoopbackUrl(url)
  printBanner({
    version,
    seconds: (Date.now() - startedAt) / 1_000,
    url,
    tenantId,
    apiKey: mayShow ? service.apiKey : undefined,
    credentialsFile: file,
    dataDir: env.dataDir,
    embedded: !env.DATABASE_URL,
    engine: env.ENGINE === 'off' ? 'off' : env.engine,
    firstBoot: created,
    needsOwner,
    setupToken: needsOwner && reachedFromElsewhere(env, url) ? setupToken(env) : null,
    dev: flags.dev,
  })
}

/** Whether visitors may come from other machines. They need the setup token. */
function reachedFromElsewhere(env: Env, url: string): boolean {
  const bound =
    env.HOST !== undefined && !isLoopbackUrl(`http://${env.HOST.includes(':') ? `[${env.HOST}]` : env.HOST}`)
  return bound || env.TRUST_PROXY > 0 || !isLoopbackUrl(url)
}

/** The last line printed: reassures the user that paused runs are not lost. */
async function pausedRuns(databaseUrl: string, log: (message: string) => void): Promise<void> {
  const database = openDatabase(databaseUrl, { max: 2, deadlineMs: 2_000 })
  try {
    const [row] = await database.sql<{ n: number }[]>`select count(*)::int as n from runs where status = 'paused'`
    if (row && row.n > 0) {
      log(`${row.n} paused ${row.n === 1 ? 'run waits' : 'runs wait'} for the next start.`)
    }
  } catch {
    // Best effort: this line is only a courtesy.
  } finally {
    await database.close().catch(() => {})
  }
}
