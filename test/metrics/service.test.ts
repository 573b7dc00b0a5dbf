import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { readsDatabase } from '@/server/database'
import type { Shared } from '@/server/metrics/database'
import { failuresOf } from '@/server/metrics/failures'
import { figuresOf, readService, type Service } from '@/server/metrics/service'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newTenant, withRole } from '../support/tenant'
import { refusal } from '../workflows/support'

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { MILLRACE_EMBEDDED: '1', OPERATOR_TENANT_ID: 'ten_test' })
})
/** Otherwise the last reading counts for a while. */
beforeEach(() => {
  for (const name of ['metrics-database', 'metrics-failures'])
    Reflect.deleteProperty(globalThis, Symbol.for(`millrace.${name}`))
})
afterAll(async () => {
  await runtime?.stop()
  await readsDatabase().close()
  await database?.close()
})

const read = () => readService(withRole(runtime.ctx, 'owner'))
const figure = ({ figures }: Service, wanted: string) => figures.find(({ id }) => id === wanted)

test('only owners of the workspace that runs the service see it; for others there is nothing', async () => {
  expect((await refusal(readService(withRole(runtime.ctx, 'admin')))).code).toBe('FORBIDDEN')
  expect((await refusal(readService(await newTenant(database, 'owner')))).code).toBe('NOT_FOUND')
  expect((await read()).engine).toBe('embedded')
})

test('waiting too long is bad, and the reasons of failed runs are counted by class and workspace', async () => {
  const failing = { id: 'fail', type: 'fail-flow', code: 'OUR_OWN_CODE', message: 'What a customer wrote' }
  const runId = await runtime.start({ name: 'Never shown', steps: [failing] })
  await runtime.wait(runId)
  const service = await read()
  expect(service.figures.filter(({ state }) => state === 'bad')).toEqual([])
  expect(figure(service, 'engine')).toMatchObject({ count: 1 })
  expect(service.failures).toEqual({
    classes: [{ name: 'OTHER', runs: 1 }],
    workspaces: [{ name: 'ten_test', runs: 1 }],
    atLeast: false,
  })
  expect(JSON.stringify(service)).not.toMatch(/OUR_OWN_CODE|customer wrote|Never shown|run_/)
})

test('failures say that there may be more, of one workspace or of many', () => {
  const failed = (workspaces: number, runs: number) =>
    failuresOf(Array.from({ length: workspaces }, (_, n) => ({ id: `ten_${n}`, name: 'W', code: 'HTTP_ERROR', runs })))
  expect(failed(1, 999).atLeast).toBe(false)
  expect(failed(1, 1_000).atLeast).toBe(true)
  expect(failed(40, 499).atLeast).toBe(false)
  expect(failed(40, 500)).toMatchObject({ atLeast: true, classes: [{ name: 'HTTP_ERROR', runs: 20_000 }] })
})

test.each([
  ['outbox', { outbox: 3, outboxS: 61 }],
  ['webhooks', { messages: 3, messagesS: 301 }],
  ['sweeps', { sweeps: [{ sweep: 'runs', ageS: 301 }] }],
])('%s that wait for too long are bad, and nothing else is', (wanted, late) => {
  const shared = { outbox: 0, outboxS: 0, messages: 0, messagesS: 0, sweeps: [{ sweep: 'runs', ageS: 299 }] }
  const figures = figuresOf({ ...shared, ...late } as Shared)
  expect(figures.filter(({ state }) => state === 'bad').map(({ id }) => id)).toEqual([wanted])
})
