import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ensureBuild } from '@/cli/build'
import type { RunFile } from '@/cli/data-dir'
import { openDatabase } from '@/db/index'
import { isPostmaster, readPidFile } from '@/db/postgres/postmaster'
import { firstBoot } from '@/server/tenants/boot/seed'
import { expectInvariants } from './invariants/check'
import { installFinality } from './invariants/finality'
import { temporaryDir } from './postgres'
import { BUILD_ENV } from './programs'

export { temporaryDir }

export interface ServiceOptions {
  env?: Record<string, string>
  /** Preserved if given; otherwise a temporary one that `stop` removes. */
  dataDir?: string
  databaseUrl?: string
  /** Adds a shell in between, as `npm start` does. A signal to the launcher then reaches only the shell. */
  shell?: boolean
}

/** The whole service, started as with `npm start`. */
export interface Service {
  url: string
  tenantId: string
  apiKey: string
  dataDir: string
  /** The launcher's process number. */
  pid: number
  /** The current web process's number. */
  webPid(): number
  /** The current embedded server's process number. */
  postgresPid(): number | undefined
  /** Sends a signal to one of its processes, by default the launcher. */
  kill(signal: NodeJS.Signals, target?: 'launcher' | 'web' | 'postgres'): void
  /** Settles with the launcher's exit code. */
  exited: Promise<number | null>
  /** Stops all processes that still run. */
  stop(): Promise<void>
  logs(): string
}

/** One process that serves requests and runs the engine, on an existing database. */
export interface Web {
  url: string
  tenantId: string
  apiKey: string
  pid: number
  kill(signal: NodeJS.Signals): void
  exited: Promise<number | null>
  stop(): Promise<void>
  logs(): string
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const READY_MS = 90_000
const LAUNCHER = ['--import', 'tsx', '--conditions=react-server', 'cli/start.ts', '--json']

let built: Promise<void> | undefined

/** Builds the app once, however many files and processes need it. */
export function ensureBuilt(): Promise<void> {
  built ??= ensureBuild({ root: ROOT, env: BUILD_ENV, log: (message) => process.stderr.write(`${message}\n`) })
  return built
}

/** Starts the real launcher and waits until it reports that the service is ready. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  await ensureBuilt()
  const home = options.dataDir ? undefined : temporaryDir()
  const dataDir = options.dataDir ?? join(home ?? '', 'data')
  const env: Record<string, string> = { DATA_DIR: dataDir, PORT: '0', ...options.env }
  if (options.databaseUrl) env.DATABASE_URL = options.databaseUrl
  const child = spawnLogged(LAUNCHER, env, { shell: options.shell })

  const postgres = join(dataDir, 'postgres')
  const postgresPid = () => {
    const found = readPidFile(postgres)
    return found && isPostmaster(found.pid, postgres) ? found.pid : undefined
  }
  const run = () => JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as RunFile
  const pids = { launcher: () => child.pid, web: () => run().web.pid, postgres: postgresPid }
  const stop = async () => {
    await child.stop()
    const left = postgresPid() // after a kill -9 of the launcher, nothing else would stop it
    if (left !== undefined) process.kill(left, 'SIGINT')
    while (left !== undefined && isPostmaster(left, postgres)) await sleep(20)
    if (home) rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const ready = await waitFor(child, () => readyLine(child.logs()))
    const { apiKey } = JSON.parse(readFileSync(ready.credentialsFile, 'utf8')) as { apiKey: string }
    return {
      url: `http://127.0.0.1:${ready.port}`,
      tenantId: ready.tenantId,
      apiKey,
      dataDir,
      pid: child.pid,
      webPid: pids.web,
      postgresPid,
      kill(signal, target = 'launcher') {
        const pid = pids[target]()
        if (pid !== undefined) process.kill(pid, signal)
      },
      exited: child.exited,
      stop,
      logs: child.logs,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Runs the launcher until it ends by itself, for starts that must fail. */
export async function failToStart(
  env: Record<string, string>,
  flags: string[] = [],
): Promise<{ code: number | null; output: string }> {
  if (!flags.includes('--worker')) await ensureBuilt()
  const child = spawnLogged([...LAUNCHER, ...flags], { PORT: '0', ...env })
  const code = await Promise.race([child.exited, sleep(READY_MS, null, { ref: false })])
  await child.stop()
  return { code, output: child.logs() }
}

/**
 * Starts only the web process, and seeds the database if it is empty. Several may run on one database. When one stops,
 * the runs in the database must violate no invariant.
 */
export async function startWeb(options: {
  databaseUrl: string
  tenantId?: string
  apiKey?: string
  env?: Record<string, string>
  /** The built sources of another release to start. */
  root?: string
}): Promise<Web> {
  await ensureBuilt()
  const tenantId = options.tenantId ?? `ten_${randomBytes(8).toString('hex')}`
  const apiKey = options.apiKey ?? `sk_${randomBytes(16).toString('hex')}`
  const seeding = openDatabase(options.databaseUrl, { max: 2 })
  const booted = await firstBoot(seeding.db, { BOOTSTRAP_TENANT_ID: tenantId, BOOTSTRAP_API_KEY: apiKey })
  await installFinality(seeding.sql)
  await seeding.close()

  const home = sharedHome(options.databaseUrl)
  const child = spawnLogged(
    ['cli/web.mjs'],
    {
      NODE_ENV: 'production',
      DATABASE_URL: options.databaseUrl,
      DATA_DIR: home.path,
      PORT: '0',
      HOST: '127.0.0.1',
      // With an external database rate limits are on, and tests would reach them within seconds.
      RATE_LIMIT_REQUESTS: '0',
      RATE_LIMIT_STARTS: '0',
      RATE_LIMIT_INVOKES: '0',
      // As if on its own machine: processes with the same host id would take over each other's work.
      MILLRACE_HOST_ID: `host_${randomBytes(8).toString('hex')}`,
      ...options.env,
    },
    { root: options.root },
  )
  const stop = async () => {
    await child.stop()
    home.leave()
  }
  try {
    const port = await waitFor(child, () => child.port())
    const url = `http://127.0.0.1:${port}`
    await waitFor(child, async () => {
      const response = await fetch(`${url}/api/health`).catch(() => undefined)
      await response?.arrayBuffer()
      return response?.ok || undefined
    })
    const kill = (signal: NodeJS.Signals) => {
      process.kill(child.pid, signal)
    }
    const { exited, logs, pid } = child
    const stopSound = async () => {
      await stop()
      const { sql, close } = openDatabase(options.databaseUrl, { max: 2 })
      await expectInvariants(sql).finally(close)
    }
    return { url, tenantId: booted.tenantId, apiKey, pid, kill, exited, stop: stopSound, logs }
  } catch (error) {
    await stop()
    throw error
  }
}

const homes = new Map<string, { path: string; users: number }>()

/** A data folder for all processes on a database, which must share one. The last to leave removes it. */
function sharedHome(databaseUrl: string): { path: string; leave(): void } {
  const home = homes.get(databaseUrl) ?? { path: temporaryDir(), users: 0 }
  homes.set(databaseUrl, home)
  home.users += 1
  let left = false
  return {
    path: home.path,
    leave() {
      if (left) return
      left = true
      home.users -= 1
      if (home.users > 0) return
      homes.delete(databaseUrl)
      rmSync(home.path, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** A process that continues runs and serves no requests. */
export interface Worker extends Pick<Web, 'pid' | 'kill' | 'exited' | 'stop' | 'logs'> {
  /** The process that does the work: with `launcher`, the first one. */
  workerPid(): number
}

/** Starts a worker on an existing database, with `launcher` as `npm run worker` does. It needs no build. */
export async function startWorker(options: {
  databaseUrl: string
  env?: Record<string, string>
  launcher?: boolean
}): Promise<Worker> {
  const home = sharedHome(options.databaseUrl)
  const args = options.launcher ? [...LAUNCHER, '--worker'] : [...LAUNCHER.slice(0, 3), 'cli/worker-process.ts']
  const child = spawnLogged(args, {
    NODE_ENV: 'production',
    ENGINE: 'worker',
    DATABASE_URL: options.databaseUrl,
    DATA_DIR: home.path,
    MILLRACE_HOST_ID: `host_${randomBytes(8).toString('hex')}`,
    ...options.env,
  })
  const { exited, logs, pid } = child
  const stop = async () => {
    await child.stop()
    home.leave()
  }
  const readyPid = () => /"event":"ready".*"workerPid":(\d+)/.exec(child.logs())?.[1]
  try {
    await waitFor(child, () => (options.launcher ? readyPid() : child.isReady() || undefined))
  } catch (error) {
    await stop()
    throw error
  }
  const workerPid = () => (options.launcher ? Number(readyPid()) : pid)
  return { pid, workerPid, kill: (signal) => void process.kill(pid, signal), exited, stop, logs }
}

interface Logged {
  isReady(): boolean
  pid: number
  exited: Promise<number | null>
  logs(): string
  port(): number | undefined
  stop(): Promise<void>
}

function spawnLogged(
  args: string[],
  env: Record<string, string>,
  { shell = false, root = ROOT }: { shell?: boolean | undefined; root?: string | undefined } = {},
): Logged {
  const logDir = temporaryDir()
  const log = join(logDir, 'output')
  const file = openSync(log, 'a')
  const npm = shell ? { npm_lifecycle_event: 'start' } : {}
  const command = [process.execPath, ...args]
  const [program = '', ...rest] = shell ? ['sh', '-c', '"$@"; exit $?', 'sh', ...command] : command
  const child: ChildProcess = spawn(program, rest, {
    cwd: root,
    // A shell's variables only: those of the test runner must not reach the service.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: tmpdir(),
      ...npm,
      ...env,
    } as unknown as NodeJS.ProcessEnv,
    stdio: ['ignore', file, file, 'ipc'],
  })
  closeSync(file)
  let kept: string | undefined
  let ready = false
  let port: number | undefined
  child.on('message', (message: { type?: string; port?: number; message?: string }) => {
    if (message.type === 'ready') {
      ready = true
      port = message.port
    }
    if (message.type === 'failed') appendFileSync(log, `${message.message}\n`)
  })
  const exited = new Promise<number | null>((done) => child.once('exit', done))
  const hasExited = () => child.exitCode !== null || child.signalCode !== null
  return {
    pid: child.pid ?? 0,
    exited,
    logs: () => kept ?? readFileSync(log, 'utf8'),
    port: () => port,
    isReady: () => ready,
    async stop() {
      if (!hasExited()) child.kill('SIGTERM')
      await Promise.race([exited, sleep(30_000, undefined, { ref: false })])
      if (!hasExited()) child.kill('SIGKILL')
      await exited
      kept ??= readFileSync(log, 'utf8')
      rmSync(logDir, { recursive: true, force: true })
    },
  }
}

async function waitFor<T>(child: Logged, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const ended = child.exited.then((code) => `it ended with code ${code}`)
  for (const until = Date.now() + READY_MS; Date.now() < until; ) {
    const found = await look()
    if (found !== undefined) return found
    const failure = await Promise.race([ended, sleep(25)])
    if (failure) throw new Error(`The service did not start: ${failure}.\n${child.logs()}`)
  }
  throw new Error(`The service did not start within ${READY_MS / 1_000} s.\n${child.logs()}`)
}

interface ReadyLine {
  port: number
  tenantId: string
  credentialsFile: string
}

function readyLine(output: string): ReadyLine | undefined {
  const line = output.split('\n').find((text) => text.startsWith('{"event":"ready"'))
  return line ? (JSON.parse(line) as ReadyLine) : undefined
}
