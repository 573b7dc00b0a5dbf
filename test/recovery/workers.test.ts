import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Caller, call, TEST_ENV } from '../support/api'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { freePort } from '../support/free-port'
import { failToStart, startWeb, startWorker, temporaryDir, type Web, type Worker } from '../support/service'
import { startLoad } from './load'
import { carry, expectSound, publishKinds, repeats, verdict } from './workload'

// Requests in one process (ENGINE=off), work in others (`npm run worker`), and only the database between them.

const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
const ENV = { ...TEST_ENV, ENCRYPTION_KEY }
const PATIENCE = { timeout: 60_000 }

/** How long an effect takes. */
let delayMs = 20
let database: FreshDatabase
let effects: EffectServer
let web: Web
const caller = (): Caller => web
const cleanups: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects((effect) => ({ delayMs, body: { id: effect.body.id } }))
  web = await startWeb({ databaseUrl: database.url, env: { ...ENV, ENGINE: 'off' } })
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})
afterAll(async () => {
  await web.stop()
  await effects.stop()
  await database.close()
})

async function worker(env: Record<string, string> = {}, launcher = false): Promise<Worker> {
  const one = await startWorker({ databaseUrl: database.url, env: { ...ENV, ...env }, launcher })
  cleanups.push(() => one.stop())
  return one
}

const health = async () => (await call(web, 'GET', '/api/health')).body
const hello = (path = 'start') => call(web, 'POST', `/api/workflow/${path}/wf_hello`, { name: 'Ada' })
const status = async (runId: string) => (await call(web, 'GET', `/api/workflow/status/${runId}`)).body

test('without a worker, starts are accepted and health says that nothing carries them on; a worker then does', async () => {
  expect(await health()).toEqual({ status: 'degraded', checks: { database: 'ok', engine: 'failed' } })
  const started = await Promise.all(Array.from({ length: 5 }, () => hello('start-async')))
  expect(started.map((answer) => answer.status)).toEqual(started.map(() => 200))
  const jobs = await database.sql`select 1 from engine.jobs where owner is null`
  expect(jobs.length).toBe(5)
  expect(await database.sql`select 1 from engine.workers`).toEqual([])
  await worker()
  for (const { body } of started)
    await expect.poll(async () => (await status(body.runId)).status, PATIENCE).toBe('completed')
  expect(await health()).toEqual({ status: 'ok', checks: { database: 'ok', engine: 'ok' } })
})

test('a synchronous start is answered as soon as the worker is done, not at the next poll', async () => {
  const { pid } = await worker()
  const times: number[] = []
  for (let n = 0; n < 15; n++) {
    const from = performance.now()
    expect((await hello()).body).toMatchObject({ status: 'completed' })
    times.push(performance.now() - from)
  }
  // Without a notification, a caller would poll after a second, and a worker after five.
  expect(times.sort((a, b) => a - b)[7]).toBeLessThan(900)
  const pids = await database.sql<{ pid: number }[]>`select pid from engine.workers`
  expect(pids.map((row) => row.pid)).toEqual([pid])
})

test('pauses are answered in one process and carried on in another, through kills of the worker', async () => {
  const host = { MILLRACE_HOST_ID: 'workers' }
  let current = await worker(host)
  const load = await startLoad(caller, effects)
  for (let kill = 0; kill < 2; kill++) {
    await load.more(10)
    process.kill(current.pid, 'SIGKILL')
    await current.exited
    current = await worker(host)
  }
  await load.more(10)
  expect(await load.finish()).toEqual([])
  await expectSound(database.sql, effects)
})

test('a worker asked to stop finishes its step and leaves the rest to another; no step runs twice', async () => {
  const [straight = ''] = await publishKinds(caller, effects)
  const first = await worker()
  const before = effects.seen.length
  const known = new Set(repeats(effects).keys())
  delayMs = 400
  const runs = await Promise.all(
    Array.from({ length: 8 }, () => call(web, 'POST', `/api/workflow/start-async/${straight}`, {})),
  )
  await expect.poll(() => effects.seen.length, PATIENCE).toBe(before + runs.length)
  first.kill('SIGTERM')
  expect(await first.exited).toBe(0)
  delayMs = 20
  await worker()
  for (const { body } of runs) {
    const { run, accepted } = await carry(caller, body.runId, 60_000)
    expect(verdict(run, accepted)).toEqual([])
  }
  expect([...repeats(effects).keys()].filter((key) => !known.has(key))).toEqual([])
})

test('`npm run worker` starts a worker that was killed again, and stops it when it is stopped', async () => {
  const port = await freePort()
  const launcher = await worker({ WORKER_PORT: String(port) }, true)
  process.kill(launcher.workerPid(), 'SIGKILL')
  await expect.poll(() => launcher.logs(), PATIENCE).toContain('the worker runs again')
  expect((await hello()).body).toMatchObject({ status: 'completed' })
  expect((await fetch(`http://127.0.0.1:${port}/api/health`)).status).toBe(200)
  launcher.kill('SIGTERM')
  expect(await launcher.exited).toBe(0)
  await sleep(50)
  expect(await database.sql`select 1 from engine.workers where last_seen > now() - interval '1 second'`).toEqual([])
})

test('a worker without a database or the key of the others does not start, and names what is missing', async () => {
  const home = temporaryDir()
  cleanups.push(async () => rmSync(home, { recursive: true, force: true }))
  const alone = await failToStart({ DATA_DIR: home }, ['--worker'])
  expect(alone).toMatchObject({ code: 1 })
  expect(alone.output).toContain('DATABASE_URL is missing: with ENGINE=worker, the processes share that database.')
  const keyless = await failToStart({ DATA_DIR: home, DATABASE_URL: database.url }, ['--worker'])
  expect(keyless).toMatchObject({ code: 1 })
  expect(keyless.output).toContain('ENCRYPTION_KEY is missing')
})
