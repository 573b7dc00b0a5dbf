import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { isAlive, isPostmaster } from '@/db/postgres/postmaster'
import { freshDatabase } from '../support/db'
import { temporaryDir } from '../support/postgres'
import { failToStart, type Service, type ServiceOptions, startService } from '../support/service'

// Each boots the real thing, some of them twice.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

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

/** Starts a run of the sample and gives its id: work that must not be lost. */
async function startRun(service: Service): Promise<string> {
  const response = await call(service, '/workflow/start-async/wf_hello', { name: 'Ada' })
  expect(response.status).toBe(200)
  return ((await response.json()) as { runId: string }).runId
}

async function knows(service: Service, runId: string): Promise<boolean> {
  return (await call(service, `/workflow/status/${runId}`)).status === 200
}

async function becomesHealthy(service: Service): Promise<void> {
  for (const until = Date.now() + 20_000; Date.now() < until; await sleep(20)) {
    const response = await fetch(`${service.url}/api/health`).catch(() => undefined)
    if (response?.ok) return
  }
  throw new Error(`not healthy again:\n${service.logs()}`)
}

async function occupy(port: number): Promise<number> {
  const server: Server = createServer()
  await new Promise<void>((done, fail) => server.once('error', fail).listen(port, '127.0.0.1', done))
  cleanups.push(() => new Promise((done) => server.close(done)))
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

describe('boot', () => {
  test('the first boot makes a tenant and a key that works, and keeps the key in a private file', async () => {
    const service = await started()
    const file = join(service.dataDir, 'credentials.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
    expect(Object.keys(kept).sort()).toEqual(['apiKey', 'baseUrl', 'tenantId'])
    expect(kept.baseUrl).toMatch(/^http:\/\/localhost:\d+$/)
    expect(kept.tenantId).toBe(service.tenantId)
    expect(existsSync(join(service.dataDir, 'postgres', 'PG_VERSION'))).toBe(true)
    expect(await knows(service, await startRun(service))).toBe(true)
  })

  test('a second boot keeps the data, the tenant and the key, and shows no key', async () => {
    const dataDir = directory()
    const first = await started({ dataDir })
    const runId = await startRun(first)
    await first.stop()
    const second = await started({ dataDir })
    expect(second.tenantId).toBe(first.tenantId)
    expect(second.apiKey).toBe(first.apiKey)
    expect(await knows(second, runId)).toBe(true)
    expect(second.logs()).not.toContain(first.apiKey)
  })

  test('the first boot uses the tenant and the key it is given', async () => {
    const env = { BOOTSTRAP_TENANT_ID: 'ten_given', BOOTSTRAP_API_KEY: 'sk_given_0123456789' }
    const service = await started({ env })
    expect(service).toMatchObject({ tenantId: 'ten_given', apiKey: 'sk_given_0123456789' })
    expect(await knows(service, await startRun(service))).toBe(true)
  })

  test('with DATABASE_URL no server is started, and the key goes to its file only', async () => {
    const { url, drop } = await freshDatabase()
    cleanups.push(drop)
    const service = await started({ databaseUrl: url })
    expect(existsSync(join(service.dataDir, 'postgres'))).toBe(false)
    expect(await knows(service, await startRun(service))).toBe(true)
    expect(service.logs()).not.toContain(service.apiKey)
  })
})

describe('port', () => {
  test('a taken port that was asked for is a clear error', async () => {
    const port = await occupy(0)
    const { code, output } = await failToStart({ DATA_DIR: directory(), PORT: String(port) })
    expect(code).toBe(1)
    expect(output).toContain(`Port ${port} (PORT) is already in use; stop what uses it or set another PORT.`)
  })

  test('a taken default port gives way to the next free one, and the start says so', async () => {
    await occupy(3000).catch(() => {}) // something else has it: as good
    const service = await started({ env: { PORT: '' } })
    expect(Number(new URL(service.url).port)).toBeGreaterThan(3000)
    expect(service.logs()).toMatch(/port 3000 is in use; taking 30\d\d/)
  })
})

describe('one launcher', () => {
  test('a second start on a directory in use is refused in one sentence, and harms nothing', async () => {
    const service = await started()
    const { code, output } = await failToStart({ DATA_DIR: service.dataDir })
    expect(code).toBe(1)
    expect(output).toMatch(/Millrace already runs on .+ at http:\/\/localhost:\d+ \(process \d+\); stop it first/)
    expect(await knows(service, await startRun(service))).toBe(true)
  })
})

describe('stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s ends every process, the database too, and frees the socket',
    async (signal) => {
      const service = await started()
      const pids = [service.webPid(), service.postgresPid() ?? 0]
      service.kill(signal)
      expect(await service.exited).toBe(0)
      expect(pids.filter((pid) => isAlive(pid))).toEqual([])
      expect(existsSync(join(service.dataDir, 'postgres', '.s.PGSQL.5432'))).toBe(false)
      expect(existsSync(join(service.dataDir, 'run.json'))).toBe(false)
    },
  )

  test('SIGTERM to npm, which ends the shell between, stops the service, and a start right after waits for that', async () => {
    const dataDir = directory()
    const first = await started({ dataDir, shell: true })
    const runId = await startRun(first)
    first.kill('SIGTERM')
    await first.exited
    const second = await started({ dataDir })
    expect(await knows(second, runId)).toBe(true)
  })

  test('a signal during the start leaves nothing running', async () => {
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

describe('kill -9', () => {
  test('of the launcher: the web process ends by itself, and the next start adopts the database', async () => {
    const dataDir = directory()
    const first = await started({ dataDir })
    const runId = await startRun(first)
    const [web, postgres] = [first.webPid(), first.postgresPid()]
    first.kill('SIGKILL')
    await first.exited
    const second = await started({ dataDir })
    expect(isAlive(web)).toBe(false)
    expect(second.postgresPid()).toBe(postgres)
    expect(second.logs()).toContain('found Postgres running')
    expect(await knows(second, runId)).toBe(true)
  })

  test('of the web process: the launcher starts another one on the same port', async () => {
    const service = await started()
    const runId = await startRun(service)
    const web = service.webPid()
    service.kill('SIGKILL', 'web')
    await becomesHealthy(service)
    expect(service.webPid()).not.toBe(web)
    expect(await knows(service, runId)).toBe(true)
  })

  test('of Postgres: the launcher starts it again, and what was acknowledged is there', async () => {
    const service = await started()
    const runId = await startRun(service)
    const postgres = service.postgresPid()
    service.kill('SIGKILL', 'postgres')
    while (service.postgresPid() === postgres) await sleep(5)
    await becomesHealthy(service)
    expect(await knows(service, runId)).toBe(true)
    expect(await knows(service, await startRun(service))).toBe(true)
  })

  test('of everything at once: the next start recovers', async () => {
    const dataDir = directory()
    const first = await started({ dataDir })
    const runId = await startRun(first)
    for (const target of ['postgres', 'web', 'launcher'] as const) first.kill('SIGKILL', target)
    await first.exited
    const second = await started({ dataDir })
    expect(await knows(second, runId)).toBe(true)
    expect(isPostmaster(second.postgresPid() ?? 0, join(dataDir, 'postgres'))).toBe(true)
  })
})

describe('settings', () => {
  test.each([
    ['PORT', 'abc', /^PORT .+\.$/m],
    ['BOOTSTRAP_API_KEY', 'short', /^BOOTSTRAP_API_KEY .+\.$/m],
    ['DATABASE_URL', 'mysql://here', /^DATABASE_URL .+\.$/m],
    ['INNGEST_EVENT_KEY', 'only-half', /^INNGEST_SIGNING_KEY .+\.$/m],
    ['DATA_DIR', '/dev/null/data', /^\/dev\/null\/data \(DATA_DIR\) cannot be written: \w+\.$/m],
  ])('a wrong %s is one sentence that names it, not a stack trace', async (name, value, sentence) => {
    const { code, output } = await failToStart({ DATA_DIR: directory(), [name]: value })
    expect(code).toBe(1)
    expect(output).toMatch(sentence)
    expect(output).not.toMatch(/^\s+at /m)
  })

  test('a database that refuses the user is one sentence without the password', async () => {
    const { url, drop } = await freshDatabase()
    cleanups.push(drop)
    const wrong = url.replace('//millrace@', '//nobody:secret@')
    const { code, output } = await failToStart({ DATA_DIR: directory(), DATABASE_URL: wrong })
    expect(code).toBe(1)
    expect(output).toMatch(/^DATABASE_URL is wrong: the server refuses the user/m)
    expect(output).not.toContain('secret')
  })
})
