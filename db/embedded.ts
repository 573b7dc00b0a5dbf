import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { accountFor } from './postgres/account'
import { type Binaries, findBinaries } from './postgres/binaries'
import { type Cluster, prepareCluster, SERVER_ENV } from './postgres/cluster'
import { isPostmaster, readPidFile, repairPidFile } from './postgres/postmaster'
import { ensureDatabase, probe } from './postgres/probe'
import { SOCKET_PORT, socketFile, socketUrl } from './url'

export interface EmbeddedOptions {
  /** The cluster's directory, `DATA_DIR/postgres`. The server's log lies next to it. */
  dataDir: string
  log(message: string): void
  /** Extra server settings, used only by tests. */
  settings?: Record<string, string>
}

export interface EmbeddedPostgres {
  /** For the application: database `millrace` and its owner role, which is not a superuser. */
  url: string
  /** For the superuser, in database `postgres`. */
  adminUrl: string
  pid: number
  /** True when the server was already running. */
  adopted: boolean
  /** Settles when the server has ended for any reason. Waiting for it does not hold the process open. */
  exited: Promise<void>
  stop(): Promise<void>
}

const WINDOWS = process.platform === 'win32'
const START_LIMIT_MS = 60_000
const FAST_STOP_MS = 10_000
const LOG_LIMIT = 10_000_000

/**
 * Starts the bundled Postgres on its data directory, which it creates on first use, or adopts a server that already
 * runs there. The server is detached: it outlives a killed launcher, and the next start finds it. Postgres itself
 * refuses a second server on a directory, so two simultaneous starts end with one server.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir)
  mkdirSync(dirname(dataDir), { recursive: true })
  const account = accountFor(dataDir)
  const binaries = await findBinaries(account)
  const cluster = await prepareCluster(dataDir, account, binaries)

  const giveUpAt = Date.now() + START_LIMIT_MS
  let reason = 'it did not answer'
  while (Date.now() < giveUpAt) {
    const living = await findLiving(cluster, options, giveUpAt)
    if (living) return living
    repairPidFile(dataDir)
    const outcome = await launch(cluster, binaries, options, giveUpAt)
    if (typeof outcome !== 'string') return outcome
    reason = outcome
    // A killed server's process number, memory and socket take a moment to be released.
    if (!/postmaster\.pid|another postmaster|still in use|could not bind|lock file/i.test(outcome)) break
    await sleep(250)
  }
  throw new Error(`The embedded Postgres in ${dataDir} did not start: ${reason}. Its log is in ${logFile(dataDir)}.`)
}

async function findLiving(cluster: Cluster, options: EmbeddedOptions, giveUpAt: number) {
  const { dataDir } = cluster
  for (let logged = false; Date.now() < giveUpAt; await sleep(50)) {
    const found = readPidFile(dataDir)
    if (!found) return undefined
    const running = isPostmaster(found.pid, dataDir)
    const urls = urlsOf(cluster, found.socketDir, found.port)
    const state =
      running || (found.socketDir && existsSync(socketFile(found.socketDir, found.port)))
        ? await probe(urls.adminUrl, dataDir)
        : 'starting'
    if (state === 'ready' && !running) {
      throw new Error(`A Postgres outside this machine or container is using ${dataDir}. Stop that one first.`)
    }
    if (state === 'ready') {
      await ensureDatabase(urls.adminUrl, cluster.password)
      options.log(`found Postgres running (process ${found.pid})`)
      return handle(cluster, urls, found.pid, undefined)
    }
    if (!running) return undefined
    if (!logged) options.log(`waiting for Postgres, which is starting or recovering (process ${found.pid})`)
    logged = true
  }
  return undefined
}

/** Makes one attempt to start a server. Returns its handle, or one sentence with the reason why it failed. */
async function launch(cluster: Cluster, binaries: Binaries, options: EmbeddedOptions, giveUpAt: number) {
  const { dataDir } = cluster
  const port = cluster.socketDir ? SOCKET_PORT : await freePort()
  const urls = urlsOf(cluster, cluster.socketDir ?? '', port)
  const log = openLog(dataDir)
  const logStart = fstatSync(log).size
  const settings = { ...settingsFor(cluster, port), ...options.settings }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])

  // A session of its own shields the server from the terminal's Ctrl+C, which would end it before the web process.
  const child = WINDOWS
    ? spawn(binaries.pgCtl, ['start', '-W', '-D', dataDir, '-l', logFile(dataDir), '-o', flags.join(' ')])
    : spawn(binaries.postgres, ['-D', cluster.view, ...flags], {
        ...cluster.account,
        cwd: dataDir,
        detached: true,
        stdio: ['ignore', log, log],
        env: SERVER_ENV,
      })
  closeSync(log)
  child.unref()
  const ended = new Promise<string>((done) => {
    child.once('error', (error) => done(error.message))
    if (!WINDOWS) child.once('exit', () => done(lastFatal(dataDir, logStart)))
  })

  while (Date.now() < giveUpAt) {
    const outcome = await Promise.race([ended, probe(urls.adminUrl, dataDir)])
    if (outcome === 'ready') break
    if (outcome !== 'starting' && outcome !== 'foreign') return outcome
    const stopped = await Promise.race([ended, sleep(20)])
    if (stopped !== undefined) return stopped
  }
  const pid = readPidFile(dataDir)?.pid
  if (pid === undefined) return 'it did not answer in time'
  // Another start was faster, so the server refused ours. The next round adopts the other server.
  if (!WINDOWS && pid !== child.pid) return `lock file: process ${pid} has it open`
  await ensureDatabase(urls.adminUrl, cluster.password)
  return handle(cluster, urls, pid, WINDOWS ? undefined : child)
}

function settingsFor(cluster: Cluster, port: number): Record<string, string> {
  const { socketDir, view, dataDir } = cluster
  const where = socketDir
    ? {
        listen_addresses: "''",
        unix_socket_directories: socketDir === dataDir ? view : socketDir,
        unix_socket_permissions: '0700',
      }
    : { listen_addresses: '127.0.0.1', port: String(port) }
  return {
    ...where,
    ...(WINDOWS ? {} : { listen_addresses: '' }),
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    log_checkpoints: 'off',
    // Omits DETAIL, which contains values: `Key (hash)=(…) already exists`.
    log_error_verbosity: 'terse',
    // A process that hangs in a transaction must not hold its locks forever.
    idle_in_transaction_session_timeout: '60s',
  }
}

function urlsOf(cluster: Cluster, socketDir: string, port: number) {
  if (cluster.socketDir) {
    return { url: socketUrl('millrace', 'millrace', socketDir), adminUrl: socketUrl('postgres', 'postgres', socketDir) }
  }
  const at = (user: string) => `postgres://${user}:${cluster.password}@127.0.0.1:${port}/${user}`
  return { url: at('millrace'), adminUrl: at('postgres') }
}

function handle(
  cluster: Cluster,
  urls: { url: string; adminUrl: string },
  pid: number,
  child: ChildProcess | undefined,
): EmbeddedPostgres {
  const gone = () =>
    child ? child.exitCode !== null || child.signalCode !== null : !isPostmaster(pid, cluster.dataDir)
  const exited = child
    ? new Promise<void>((done) => {
        if (gone()) done()
        child.once('exit', () => done())
      })
    : poll(gone)
  return { ...urls, pid, adopted: child === undefined, exited, stop: () => stop(cluster, pid, gone) }
}

async function stop(cluster: Cluster, pid: number, gone: () => boolean): Promise<void> {
  if (WINDOWS) {
    const { pgCtl } = await findBinaries(undefined)
    await new Promise((done) => execFile(pgCtl, ['stop', '-D', cluster.dataDir, '-m', 'fast', '-w'], done))
    return
  }
  // Fast (ends sessions, flushes data), then immediate (recovers at the next start), then kill.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    try {
      if (!gone()) process.kill(pid, signal)
    } catch {
      return
    }
    for (const until = Date.now() + FAST_STOP_MS; !gone() && Date.now() < until; ) await sleep(20)
    if (gone()) return
  }
}

async function poll(gone: () => boolean): Promise<void> {
  while (!gone()) await sleep(200, undefined, { ref: false })
}

function logFile(dataDir: string): string {
  return `${dataDir}.log`
}

/** A file, not a pipe: the server outlives this process, and writing to a closed pipe would fail. */
function openLog(dataDir: string): number {
  const path = logFile(dataDir)
  if (existsSync(path) && statSync(path).size > LOG_LIMIT) renameSync(path, `${path}.1`)
  return openSync(path, 'a', 0o600)
}

function lastFatal(dataDir: string, from: number): string {
  if (!existsSync(logFile(dataDir))) return 'it ended without a message' // long after the start, while everything is being removed
  const lines = readFileSync(logFile(dataDir)).subarray(from).toString().trim().split('\n')
  const line = lines.findLast((text) => /FATAL|PANIC/.test(text)) ?? lines.at(-1)
  return line?.replace(/^.*?(FATAL|PANIC):\s*/, '') || 'it ended without a message'
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer()
    server.once('error', fail)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
