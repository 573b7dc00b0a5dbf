import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { keepRegistering as KeepRegistering } from '@/inngest/register'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { seedManyRuns } from '../support/seed-runs'
import { newTenant } from '../support/tenant'
import { until } from './support'

const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }

let database: FreshDatabase
let keepRegistering: typeof KeepRegistering
let readEnv: typeof import('@/server/env').readEnv
let engineState: typeof import('@/server/host/engine-state')
let settings: Record<string, string>
/** How often the functions were registered, and the server's response. */
let registered = 0
let swept = 0
/** The address that the server should call. */
const addresses: string[] = []
let status = 200
const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (part: string) => {
    body += part
  })
  request.once('end', () => {
    registered += 1
    addresses.push((JSON.parse(body) as { url?: string }).url ?? '')
    // As a real server refuses a key.
    if (status === 401) return response.writeHead(401).end('Authentication failed')
    const said = status === 200 ? { status, modified: true } : { status, error: 'not now' }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  })
})
let stop = () => {}

beforeAll(async () => {
  database = await freshDatabase()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  settings = {
    DATABASE_URL: database.url,
    LOG_LEVEL: 'fatal',
    PUBLIC_URL: 'http://127.0.0.1:1',
    INNGEST_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    INNGEST_EVENT_KEY: 'event',
    INNGEST_SIGNING_KEY: `signkey-test-${'ab'.repeat(32)}`,
  }
  Object.assign(process.env, settings)
  // The functions read the environment when they are loaded.
  keepRegistering = (await import('@/inngest/register')).keepRegistering
  readEnv = (await import('@/server/env')).readEnv
  engineState = await import('@/server/host/engine-state')
  await database.sql`insert into installation (id) values (true) on conflict do nothing`
})
afterEach(() => stop())
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await database?.close()
})

const called = (secondsAgo: number) =>
  database.sql`update installation set called_at = now() - ${`${secondsAgo} seconds`}::interval`
/** A run whose walk was handed over five minutes ago. @returns its id */
async function seedWalk(status: string): Promise<string> {
  const { tenantId } = await newTenant(database)
  await seedManyRuns(database.sql, tenantId, 1)
  await database.sql`
    insert into walks (tenant_id, run_id, branch, epoch, segment, status, step_id, visit, updated_at)
    values (${tenantId}, 'run_MANY0000001', 'main', 1, 1, ${status}, 'step_1', 1, now() - interval '300 seconds')`
  return 'run_MANY0000001'
}
const start = () => {
  stop = keepRegistering(database.sql, readEnv(settings), log, async () => ++swept, {
    watchMs: 20,
    missedMs: 1_000,
  })
}

test('a server that does not call any more gets the functions again, at most once per missed call', async () => {
  start()
  await until(async () => registered === 1)
  await called(0)
  await sleep(300)
  expect([registered, swept]).toEqual([1, 0])
  await called(3)
  await database.sql`
    update installation set registration = jsonb_set(registration::jsonb, '{at}', to_jsonb('2026-01-01T00:00:00Z'::text))`
  await until(async () => registered === 2)
  await sleep(300)
  expect([registered, swept]).toEqual([2, 1])
  await until(async () => registered === 3)
  // Nobody has called, so registering again does not make the service healthy.
  expect(
    engineState.inngestProblem({ ...(await engineState.readInngestState(database.sql)), calledS: 500 }, true),
  ).toContain('last called the functions 500 s ago')
})

test('a key that the server refuses is named', async () => {
  status = 401
  await database.sql`update installation set registration = null`
  start()
  const problem = async () => engineState.inngestProblem(await engineState.readInngestState(database.sql), true)
  await until(async () => /could not be registered/.test((await problem()) ?? ''))
  expect(await problem()).toBe(
    'The functions could not be registered: the Inngest server refuses INNGEST_SIGNING_KEY (401).',
  )
  status = 200
})

test('one that refuses is asked again within seconds, until it accepts', async () => {
  registered = 0
  status = 500
  await database.sql`update installation set registration = null`
  start()
  await until(async () => registered >= 1)
  await until(async () => (await engineState.readInngestState(database.sql)).registration?.error != null)
  status = 200
  await until(async () => (await engineState.readInngestState(database.sql)).registration?.error === null)
})

test('on a preview, which is rarely called, a run that nobody carries on says that the server does not get through', async () => {
  const { inngestProblem } = engineState
  const registration = { url: 'https://preview.example', fingerprint: '', at: new Date().toISOString(), error: null }
  const state = { registration, calledS: 3_000, waitingS: null, askedS: null }
  expect(inngestProblem(state, false)).toBeNull()
  expect(inngestProblem({ ...state, askedS: 30 }, false)).toBeNull()
  // It waits for its turn on a server that calls.
  expect(inngestProblem({ ...state, askedS: 200, calledS: 5 }, false)).toBeNull()
  expect(inngestProblem({ ...state, askedS: 200 }, false)).toContain('https://preview.example')
  expect(inngestProblem({ ...state, askedS: 200, calledS: null }, false)).toContain('never')
})

test('a run that waits to be carried on is dated from when it was handed over', async () => {
  const run = await seedWalk('requested')
  expect((await engineState.readInngestState(database.sql)).askedS).toBeGreaterThan(299)
  await database.sql`update walks set status = 'resting' where run_id = ${run}`
  expect((await engineState.readInngestState(database.sql)).askedS).toBeNull()
})

test('the address contains the way through Deployment Protection, and a changed one is registered again', async () => {
  await database.sql`update installation set registration = null`
  const { registerFunctions } = await import('@/inngest/register')
  const tell = (bypass: string) =>
    registerFunctions(database.sql, readEnv({ ...settings, VERCEL_AUTOMATION_BYPASS_SECRET: bypass }))
  registered = 0
  await tell('first-secret')
  await tell('first-secret')
  expect([registered, addresses.at(-1)]).toEqual([
    1,
    expect.stringContaining('x-vercel-protection-bypass=first-secret'),
  ])
  const told = await tell('second-secret')
  expect([registered, addresses.at(-1)]).toEqual([
    2,
    expect.stringContaining('x-vercel-protection-bypass=second-secret'),
  ])
  expect(JSON.stringify(told)).not.toContain('secret')
})
