import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openDatabase, withDeadline } from '@/db/index'
import { type Env, readEnv } from '@/server/env'
import { isLoopbackUrl } from '@/server/tenants/setup/local'
import { setupToken } from '@/server/tenants/setup/token'
import { printBanner } from './banner'
import { ensureBuild } from './build'
import { credentialsFile, draftCredentials, settleCredentials } from './credentials'
import { claimDataDir, hostId, markStopping, writeRunFile } from './data-dir'
import { migrateDatabase, reachDatabase, startDatabase } from './database'
import { loadDotEnv } from './dot-env'
import { choosePort } from './ports'
import { CannotStart, print, printError } from './print'
import { end, refOf } from './processes'
import { supervise } from './supervise'
import { PortTaken, startWeb, type WebProcess } from './web-process'

export interface Flags {
  dev: boolean
  json: boolean
}

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
/** The web process's own grace and a margin. */
const WEB_STOP_MS = 15_000
const READY_LIMIT_MS = { production: 60_000, dev: 180_000 }

/** Runs the service until it is told to stop or cannot go on; then nothing of it runs any more. */
export async function launch(flags: Flags, stop: AbortSignal): Promise<void> {
  const startedAt = Date.now()
  // Also aborted by a failure, so that nothing is started again while the rest is being stopped.
  const ending = new AbortController()
  const signal = AbortSignal.any([stop, ending.signal])
  const log = (message: string) => (flags.json ? printError : print)(`  ${message}`)
  const undo: (() => void | Promise<void>)[] = []
  try {
    const service = await start(flags, signal, log, undo)
    await announce(service, flags, startedAt)
    const failure = await Promise.race([...service.supervised, aborted(signal)])
    if (failure) throw new CannotStart(failure)
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
  /** True until somebody has become the first owner. */
  needsOwner: boolean
  /** Each settles with a sentence when its part cannot be kept running. */
  supervised: Promise<string | undefined>[]
}

async function start(
  flags: Flags,
  signal: AbortSignal,
  log: (message: string) => void,
  undo: (() => void | Promise<void>)[],
): Promise<Service> {
  loadDotEnv(flags.dev)
  const env = readEnv(process.env)
  const { dataDir } = env
  const output = flags.json ? 'stderr' : 'inherit'

  const claim = await claimDataDir(dataDir)
  undo.push(claim.release)
  // A launcher that was killed leaves a web process that is ending by itself; it holds the port until then.
  if (claim.previous) await end(claim.previous.web, WEB_STOP_MS)

  const chosen = await choosePort({ port: env.port, portIsDefault: env.portIsDefault, host: env.HOST })
  if (chosen.moved) log(`port ${env.port} is in use; taking ${chosen.port}`)
  if (!flags.dev) await ensureBuild({ root: ROOT, log, output, signal })
  signal.throwIfAborted()

  const supervised: Promise<string | undefined>[] = []
  let url = env.DATABASE_URL
  if (url) await reachDatabase(url, log, signal)
  else {
    let starting = startDatabase(dataDir, log)
    // The one that is being started, too, or it would come up after everything else has stopped.
    undo.push(async () => (await starting.catch(() => undefined))?.stop())
    const postgres = await starting
    url = postgres.url
    const restart = () => {
      starting = startDatabase(dataDir, log)
      return starting
    }
    supervised.push(supervise({ name: 'database', first: postgres, restart, log, signal }))
  }
  const databaseUrl = url
  signal.throwIfAborted()
  await migrateDatabase(databaseUrl)

  const baseUrl = env.PUBLIC_URL?.replace(/\/$/, '') ?? `http://localhost:${chosen.port}`
  const spawn = (port: number): WebProcess => {
    const web = startWeb({
      root: ROOT,
      dev: flags.dev,
      output,
      env: {
        PORT: String(port),
        DATABASE_URL: databaseUrl,
        DATA_DIR: dataDir,
        PUBLIC_URL: baseUrl,
        // Only an address that was set: a local start answers under `localhost` and 127.0.0.1 alike.
        ...(env.PUBLIC_URL && !env.NEXTAUTH_URL ? { NEXTAUTH_URL: baseUrl } : {}),
        MILLRACE_HOST_ID: hostId(dataDir),
        ...(env.DATABASE_URL ? {} : { MILLRACE_EMBEDDED: '1' }),
      },
    })
    writeRunFile(dataDir, { url: baseUrl, launcher: refOf(process.pid), web: refOf(web.pid) })
    return web
  }
  let web = spawn(chosen.port)
  undo.push(() => pausedRuns(databaseUrl, log))
  undo.push(() => web.stop(WEB_STOP_MS))
  undo.push(() => markStopping(dataDir))
  const listening = web.listening.catch((error: unknown) => {
    if (error instanceof PortTaken) throw new CannotStart(`Port ${chosen.port} was taken just now; start again.`)
    throw error
  })
  // Side by side, as each takes about as long; nobody is told of the service before both are done.
  const [port, booted] = await Promise.all([listening, seed(env, databaseUrl, baseUrl)])
  await healthy(web, env, port, flags, signal)
  const restart = async () => {
    web = spawn(port)
    await web.listening
    return web
  }
  supervised.push(supervise({ name: 'web process', first: web, restart, log, signal }))
  return { env, url: baseUrl, port, webPid: web.pid, ...booted, supervised }
}

/** First boot or not, with the key kept on disk from before the database knows it. */
async function seed(env: Env, url: string, baseUrl: string) {
  const draft = draftCredentials(env.dataDir, { tenantId: env.BOOTSTRAP_TENANT_ID, apiKey: env.BOOTSTRAP_API_KEY })
  const { firstBoot } = await import('@/server/tenants/boot/seed') // the whole product: nothing before this needs it
  const { hasOwner } = await import('@/server/tenants/setup/state')
  const database = openDatabase(url, { max: 2 })
  try {
    const { tenantId, apiKey } = await withDeadline(60_000, () =>
      firstBoot(database.db, { BOOTSTRAP_TENANT_ID: draft.tenantId, BOOTSTRAP_API_KEY: draft.apiKey }),
    )
    const created = apiKey !== null
    settleCredentials(env.dataDir, draft, { baseUrl, tenantId, created })
    const needsOwner = !(await withDeadline(60_000, () => hasOwner(database.db)))
    return { tenantId, created, apiKey: apiKey ?? undefined, needsOwner }
  } finally {
    await database.close()
  }
}

/** Waits until requests work; a process that listens may still be connecting. */
async function healthy(web: WebProcess, env: Env, port: number, flags: Flags, signal: AbortSignal): Promise<void> {
  const host = !env.HOST || env.HOST === '0.0.0.0' || env.HOST === '::' ? '127.0.0.1' : env.HOST
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}/api/health`
  const limit = flags.dev ? READY_LIMIT_MS.dev : READY_LIMIT_MS.production
  let last = 'no answer'
  for (const until = Date.now() + limit; Date.now() < until; await sleep(50, undefined, { signal })) {
    if (web.hasExited()) throw new CannotStart('The web process ended while it was starting; see its output above.')
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(flags.dev ? 60_000 : 5_000) })
      last = `status ${response.status}`
      await response.arrayBuffer()
      if (response.ok) return
    } catch (error) {
      last = error instanceof Error ? error.message : String(error)
    }
  }
  throw new CannotStart(`The service did not become healthy within ${limit / 1_000} s: GET ${url} gave ${last}.`)
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
  // Where others may read the output, the key stays in its file.
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
    engine: env.engine,
    firstBoot: created,
    needsOwner,
    setupToken: needsOwner && reachedFromElsewhere(env, url) ? setupToken(env) : null,
    dev: flags.dev,
  })
}

/** Whether visitors may come from other machines, who then need the setup token. */
function reachedFromElsewhere(env: Env, url: string): boolean {
  const bound =
    env.HOST !== undefined && !isLoopbackUrl(`http://${env.HOST.includes(':') ? `[${env.HOST}]` : env.HOST}`)
  return bound || env.TRUST_PROXY > 0 || !isLoopbackUrl(url)
}

/** The last line a person sees: what waits is not lost. */
async function pausedRuns(databaseUrl: string, log: (message: string) => void): Promise<void> {
  const database = openDatabase(databaseUrl, { max: 2, deadlineMs: 2_000 })
  try {
    const [row] = await database.sql<{ n: number }[]>`select count(*)::int as n from runs where status = 'paused'`
    if (row && row.n > 0) {
      log(`${row.n} ${row.n === 1 ? 'run is' : 'runs are'} paused and will continue after the next start.`)
    }
  } catch {
    // It is only a courtesy.
  } finally {
    await database.close().catch(() => {})
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((done) => {
    if (signal.aborted) done(undefined)
    signal.addEventListener('abort', () => done(undefined), { once: true })
  })
}
