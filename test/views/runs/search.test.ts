import { afterAll, beforeAll, expect, it } from 'vitest'
import { startRun } from '@/server/runs/start'
import { setVaultSecret } from '@/server/vault/set'
import { browseRuns } from '@/server/views/runs/browse'
import { runsContaining } from '@/server/views/runs/containing'
import { countNewRuns } from '@/server/views/runs/count-new'
import { countRuns } from '@/server/views/runs/totals'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { startTestRuntime, type TestRuntime } from '../../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
let workflowId: string
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
  const end = { id: 'end', type: 'end-flow', output: { total: '${amount}', sent: { to: '${customer.city}' } } }
  const payload = {
    customer: { type: 'object' },
    amount: { type: 'number' },
    note: { type: 'string', required: false },
  }
  workflowId = (await createWorkflow(runtime.ctx, { name: 'Orders', payload, steps: [end] })).id
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

async function ran(city: string, amount: number, note?: string): Promise<string> {
  const body = { customer: { city }, amount, ...(note === undefined ? {} : { note }) }
  const { runId } = await startRun(runtime.ctx, { workflowId, body })
  await runtime.wait(runId)
  return runId
}
const found = async (q: string, ctx = runtime.ctx, more = {}) =>
  (await browseRuns(ctx, { q, ...more })).runs.map(({ runId }) => runId)

it('runs are found by a text or number in their input or result, wherever it is, but not by the names of fields', async () => {
  const oslo = await ran('Oslo "north" 100%', 4711, 'Call\nfirst')
  const bergen = await ran('Bergen', 12)
  expect(await found('oslo')).toEqual([oslo])
  expect(await found('"north" 100%')).toEqual([oslo])
  expect(await found('call\nFIRST')).toEqual([oslo])
  expect(await found('4711')).toEqual([oslo])
  expect(await found('bergen')).toEqual([bergen])
  for (const name of ['customer', 'amount', 'total', '% 0', '__lo']) expect(await found(name)).toEqual([])
  // Too short to search values for.
  expect(await found('12')).toEqual([])
  expect(await found('bergen', runtime.ctx, { states: ['failed'] })).toEqual([])
  expect(await found('oslo', await runtime.as('owner', 'ten_other'))).toEqual([])
})

it('a value of the vault cannot be searched for', async () => {
  const runId = await ran('Tromsø', 1, 'the token is hunter2-is-not-it')
  expect(await found('hunter2')).toEqual([runId])
  await setVaultSecret(runtime.ctx, { name: 'TOKEN', value: 'hunter2-is-not-it', hosts: ['api.example.com'] })
  expect(await found('hunter2')).toEqual([])
  expect(await found('the token is')).toEqual([runId])
})

it('the totals are those of the filter, by state', async () => {
  const states = { completed: 3 }
  expect(await countRuns(runtime.ctx, { workflowIds: [workflowId] })).toEqual({ count: 3, more: false, states })
  expect(await countRuns(runtime.ctx, { q: 'bergen' })).toEqual({ count: 1, more: false, states: { completed: 1 } })
  expect(await countRuns(runtime.ctx, { q: 'nowhere' })).toEqual({ count: 0, more: false, states: {} })
  expect(await countRuns(await runtime.as('viewer', 'ten_other'), {})).toMatchObject({ count: 0 })
})

it('a value over the size limit is not read, however small it is stored', async () => {
  await ran('Narvik', 2, `${'x'.repeat(100_000)} needle`)
  expect(await found('needle')).toEqual([])
})

it('a search reads a limited number of bytes and runs, the newest first', async () => {
  const note = `haystack ${'y'.repeat(1_000)}`
  const older = await ran('Bodø', 3, note)
  const newer = await ran('Bodø', 3, note)
  const search = (limits: object) => runsContaining(runtime.ctx, 'haystack', undefined, limits)
  expect(await search({})).toEqual([newer, older])
  expect(await search({ found: 1 })).toEqual([newer])
  expect(await search({ together: 2_000 })).toEqual([newer])
})

it('values are not searched again for the count of new runs, which pages ask for every few seconds', async () => {
  await ran('Hammerfest', 4)
  expect(await countNewRuns(runtime.ctx, { q: 'hammerfest', since: null })).toEqual({ count: 0 })
  expect((await countNewRuns(runtime.ctx, { q: 'Orders', since: null })).count).toBeGreaterThan(0)
})
