import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { isAlive } from '@/db/postgres/postmaster'
import { freshDatabase } from '../support/db'
import { temporaryDir } from '../support/postgres'
import { failToStart, type Service, type ServiceOptions, startService } from '../support/service'

// Each test boots the real service, some of them twice.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const PATIENCE = { timeout: 90_000 }
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function started(options: ServiceOptions = {}): Promise<Service> {
  const service = await startService(options)
  cleanups.push(service.stop)
  return service
}

function directory(): string {
  const home = temporaryDir()
  cleanups.push(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  return join(home, 'data')
}

function call({ url, tenantId, apiKey }: Service, path: string, body?: unknown): Promise<Response> {
  return fetch(`${url}/api${path}`, {
    headers: { 'x-api-key': apiKey, 'x-tenant-id': tenantId, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
}

/** Starts a run of the sample and returns its id: work that must not be lost. */
async function startRun(service: Service): Promise<string> {
  const response = await call(service, '/workflow/start-async/wf_hello', { name: 'Ada' })
  expect(response.status).toBe(200)
  return ((await response.json()) as { runId: string }).runId
}

async function knows(service: Service, runId: string): Promise<boolean> {
  return (await call(service, `/workflow/status/${runId}`)).status === 200
}

async function occupy(port: number): Promise<number> {
  const server: Server = createServer()
  await new Promise<void>((done, fail) => server.once('error', fail).listen(port, '127.0.0.1', done))
  cleanups.push(() => new Promise((done) => server.close(done)))
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

describe('the life of a service', () => {
  test('from first start through a concurrent second start, a stop, a restart with all its data, and crashes', async () => {
    const dataDir = directory()
    const first = await started({ dataDir, shell: true })

    // The first start creates a tenant and a working key, and stores the key in a private file.
    const file = join(dataDir, 'credentials.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
    expect(kept).toEqual({
      baseUrl: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      tenantId: first.tenantId,
      apiKey: first.apiKey,
    })
    expect(existsSync(join(dataDir, 'postgres', 'PG_VERSION'))).toBe(true)
    const runId = await startRun(first)

    // A second launcher on the directory is refused with one sentence and does no harm.
    const refused = await failToStart({ DATA_DIR: dataDir })
    expect(refused.code).toBe(1)
    expect(refused.output).toMatch(
      /Millrace already runs on .+ at http:\/\/localhost:\d+ \(process \d+\)\. Stop it first/,
    )
    expect(await knows(first, runId)).toBe(true)

    // SIGTERM to npm ends only the shell in between, but the service stops anyway, and an immediate start waits for
    // that. The default port is taken, so that start uses the next one and says so.
    first.kill('SIGTERM')
    await first.exited
    await occupy(3000).catch(() => {}) // already taken, which is just as good
    const second = await started({ dataDir, env: { PORT: '' } })
    expect(Number(new URL(second.url).port)).toBeGreaterThan(3000)
    expect(second.logs()).toMatch(/port 3000 is in use; using 30\d\d/)
    expect(second).toMatchObject({ tenantId: first.tenantId, apiKey: first.apiKey })
    expect(second.logs()).not.toContain(first.apiKey)
    expect(await knows(second, runId)).toBe(true)

    // However often the web process dies, the launcher restarts it after growing delays, and Postgres stays up.
    const postgres = second.postgresPid() ?? 0
    for (let end = 1; end <= 5; end++) {
      const web = second.webPid()
      process.kill(web, 'SIGKILL')
      if (end < 5) while (second.webPid() === web) await sleep(10)
    }
    await expect.poll(() => second.logs(), PATIENCE).toContain('the web process did not start')
    await expect.poll(() => second.logs(), PATIENCE).toContain('5 times in a row; starting it again in 8 s')
    expect(second.postgresPid()).toBe(postgres)

    // Stopping does not wait for the delay: nothing restarts, and every process ends.
    const web = second.webPid()
    second.kill('SIGTERM')
    expect(await second.exited).toBe(0)
    expect([web, postgres].filter((pid) => isAlive(pid))).toEqual([])
    expect(second.logs()).not.toContain('the web process runs again')
    expect(existsSync(join(dataDir, 'postgres', '.s.PGSQL.5432'))).toBe(false)
    expect(existsSync(join(dataDir, 'run.json'))).toBe(false)
  })

  test('with its own database: no other is started, the given tenant and key are used, and SIGINT ends it', async () => {
    const { url, close } = await freshDatabase()
    cleanups.push(close)
    const env = { BOOTSTRAP_TENANT_ID: 'ten_given', BOOTSTRAP_API_KEY: 'sk_given_0123456789' }
    const service = await started({ databaseUrl: url, env })
    expect(service).toMatchObject({ tenantId: 'ten_given', apiKey: 'sk_given_0123456789' })
    expect(await knows(service, await startRun(service))).toBe(true)
    expect(existsSync(join(service.dataDir, 'postgres'))).toBe(false)
    expect(service.logs()).not.toContain(service.apiKey)
    const web = service.webPid()
    service.kill('SIGINT')
    expect(await service.exited).toBe(0)
    expect(isAlive(web)).toBe(false)
  })

  test('with a signal during the start: nothing is left running', async () => {
    const dataDir = directory()
    const starting = startService({ dataDir }).catch((error: Error) => error)
    while (!existsSync(join(dataDir, 'postgres', 'postmaster.pid'))) await sleep(5)
    const lock = JSON.parse(readFileSync(join(dataDir, 'run.lock'), 'utf8')) as { pid: number }
    process.kill(lock.pid, 'SIGTERM')
    expect(await starting).toBeInstanceOf(Error)
    expect(isAlive(lock.pid)).toBe(false)
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false)
  })
})

// settings.test.ts covers which settings are rejected and how.
describe('a start that fails', () => {
  test.each([
    ['PORT', 'abc', /^PORT must be a port number from 0 to 65535\.$/m],
    ['DATA_DIR', '/dev/null/data', /^\/dev\/null\/data \(DATA_DIR\) cannot be written: \w+\.$/m],
  ])(
    'because of a wrong %s says so in one sentence that names it, without a stack trace',
    async (name, value, sentence) => {
      const { code, output } = await failToStart({ DATA_DIR: directory(), [name]: value })
      expect(code).toBe(1)
      expect(output).toMatch(sentence)
      expect(output).not.toMatch(/^\s+at /m)
    },
  )

  test('because a requested port is taken gives a clear error', async () => {
    const port = await occupy(0)
    const { code, output } = await failToStart({ DATA_DIR: directory(), PORT: String(port) })
    expect(code).toBe(1)
    expect(output).toContain(`Port ${port} (PORT) is already in use. Stop what uses it, or set another PORT.`)
  })

  test('because the database refuses the user gives one sentence without the password', async () => {
    const { url, close } = await freshDatabase()
    cleanups.push(close)
    const wrong = url.replace('//millrace@', '//nobody:secret@')
    const { code, output } = await failToStart({ DATA_DIR: directory(), DATABASE_URL: wrong })
    expect(code).toBe(1)
    expect(output).toMatch(/^DATABASE_URL is wrong: the server refuses the user/m)
    expect(output).not.toContain('secret')
  })
})
