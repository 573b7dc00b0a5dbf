import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureBuild } from '@/cli/build'
import type { RunFile } from '@/cli/data-dir'
import { firstBoot } from '@/server/boot/seed'
import { type FreshDatabase, freshDatabase } from './db'

const ROOT = process.cwd()
const START_LIMIT_MS = 90_000

/** A running service in processes of its own. */
export interface Service {
  url: string
  tenantId: string
  apiKey: string
  /** The process that was started here: the launcher, or the web process itself. */
  pid: number
  webPid: number
  logs(): string
  /** Sends a signal and waits for the end. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** SIGTERM, then waits for the end. */
  stop(): Promise<void>
  /** A call with the service's own key; other headers by `init`. */
  call(method: string, path: string, body?: unknown, init?: { headers?: Record<string, string> }): Promise<Answer>
}

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of an answer
  body: any
}

/** The whole product as `npm start` runs it, embedded database and all, on a data folder of its own. */
export async function startService(
  options: { dataDir?: string; env?: Record<string, string> } = {},
): Promise<Service & { dataDir: string }> {
  await built()
  const dataDir = options.dataDir ?? newDataDir()
  const port = await freePort()
  const child = run(['--import', 'tsx', '--conditions=react-server', 'cli/start.ts'], {
    PORT: String(port),
    DATA_DIR: dataDir,
    DATABASE_URL: '',
    ...options.env,
  })
  const url = `http://127.0.0.1:${port}`
  await healthy(url, child)
  const { apiKey, tenantId } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as {
    apiKey: string
    tenantId: string
  }
  const { web } = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as RunFile
  return { ...handle(child, { url, apiKey, tenantId, webPid: web.pid }), dataDir }
}

/** A web process (routes, relay and engine) on a database that has been made already. */
export async function startWeb(
  database: { url: string },
  options: { env?: Record<string, string>; port?: number } = {},
): Promise<Service> {
  await built()
  const port = options.port ?? (await freePort())
  const dataDir = options.env?.DATA_DIR ?? newDataDir()
  const child = run(['cli/web.mjs'], {
    PORT: String(port),
    DATABASE_URL: database.url,
    MILLRACE_EMBEDDED: '1',
    MILLRACE_HOST_ID: 'test-host',
    DATA_DIR: dataDir,
    ...options.env,
  })
  const url = `http://127.0.0.1:${port}`
  await healthy(url, child)
  return handle(child, { url, apiKey: TEST_KEY, tenantId: TEST_TENANT, webPid: child.process.pid ?? 0 })
}

export const TEST_TENANT = 'ten_test'
export const TEST_KEY = 'sk_test_0123456789abcdef'

/** A database with the first tenant (`TEST_TENANT`, `TEST_KEY`) and the samples in it. */
export async function seededDatabase(): Promise<FreshDatabase> {
  const database = await freshDatabase()
  await firstBoot(database.db, { BOOTSTRAP_TENANT_ID: TEST_TENANT, BOOTSTRAP_API_KEY: TEST_KEY })
  return database
}

/** A web process with a seeded database: what most tests of the API need. Stopping it drops the database. */
export async function startApi(env: Record<string, string> = {}): Promise<Service & { database: FreshDatabase }> {
  const database = await seededDatabase()
  const service = await startWeb(database, { env })
  return {
    ...service,
    database,
    async stop() {
      await service.stop()
      await database.drop()
    },
  }
}

let building: Promise<void> | undefined
function built(): Promise<void> {
  building ??= ensureBuild({ root: ROOT, log: () => {} })
  return building
}

interface Child {
  process: ChildProcess
  exited: Promise<void>
  text(): string
}

function run(args: string[], env: Record<string, string>): Child {
  const base = Object.entries(process.env).filter(([name]) => !/^(npm_|VITEST|INNGEST_|NODE_OPTIONS|TEST$)/.test(name))
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(base), NODE_ENV: 'production', LOG_LEVEL: 'warn', MILLRACE_TEST_STEPS: '1', ...env },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-200_000)
    })
  }
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return { process: child, exited, text: () => text }
}

function handle(child: Child, facts: { url: string; apiKey: string; tenantId: string; webPid: number }): Service {
  const kill = async (signal: NodeJS.Signals) => {
    child.process.kill(signal)
    await child.exited
  }
  return {
    ...facts,
    pid: child.process.pid ?? 0,
    logs: child.text,
    kill,
    stop: () => kill('SIGTERM'),
    call: (method, path, body, init = {}) => callService(facts, method, path, body, init),
  }
}

export async function callService(
  service: { url: string; apiKey: string; tenantId: string },
  method: string,
  path: string,
  body?: unknown,
  init: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Answer> {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      'x-api-key': service.apiKey,
      'x-tenant-id': service.tenantId,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...init.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(init.signal ? { signal: init.signal } : {}),
  })
  const text = await response.text()
  const json = (response.headers.get('content-type') ?? '').includes('json')
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text }
}

async function healthy(url: string, child: Child): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS
  for (;;) {
    const ok = await fetch(`${url}/api/health`).then(
      (response) => response.ok,
      () => false,
    )
    if (ok) return
    const ended = child.process.exitCode !== null || child.process.signalCode !== null
    if (ended || Date.now() > deadline) {
      child.process.kill('SIGKILL')
      throw new Error(`The service did not become healthy:\n${child.text()}`)
    }
    await sleep(50)
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}

const folders: string[] = []
process.once('exit', () => {
  for (const folder of folders) if (existsSync(folder)) rmSync(folder, { recursive: true, force: true })
})

export function newDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  folders.push(folder)
  return folder
}
