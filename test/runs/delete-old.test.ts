import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { deleteOldRuns } from '@/server/runs/delete-old'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { keepRuns } from '@/server/tenants/keep-runs'
import { countAllDays } from '@/server/views/insights/days'
import { readInsights } from '@/server/views/insights/read'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { withRole } from '../support/tenant'

const DAY_MS = 86_400_000
let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

const DONE = { steps: [{ id: 'set', type: 'set-data', values: { a: 1 } }] }
const ASKS = { steps: [{ id: 'ask', type: 'request-user-action', actions: [{ id: 'yes', label: 'Yes' }] }] }

/** A workspace with this many ended runs, and one that waits for a person. */
async function workspace(tenantId: string, ended: number) {
  const ctx = await runtime.as('owner', tenantId)
  const ids: string[] = []
  for (const steps of [DONE, ASKS]) ids.push((await createWorkflow(ctx, { name: 'W', ...steps })).id)
  const start = async (id = '') => (await startRun(ctx, { workflowId: id, body: {} })).runId
  const done = await Promise.all(Array.from({ length: ended }, () => start(ids[0])))
  const open = await start(ids[1])
  await expect.poll(async () => (await getRunStatus(ctx, { runId: open })).status).toBe('paused')
  for (const runId of done) await expect.poll(async () => (await getRunStatus(ctx, { runId })).status).toBe('completed')
  return { ctx, done, open }
}

/** The sweeps this many days from now. On a busy machine one has no time to count all days. */
const sweep = (days: number) =>
  deleteOldRuns({ db: runtime.db, log: runtime.ctx.log, now: () => new Date(Date.now() + days * DAY_MS) }, countWhole)
async function countWhole(ctx: ServiceContext): Promise<boolean> {
  while (!(await countAllDays(ctx)));
  return true
}

async function rowsOf({ tenantId }: ServiceContext): Promise<Record<string, number>> {
  const tables = ['runs', 'walks', 'step_records', 'pauses']
  const counts = tables.map(
    async (table) =>
      [table, (await database.sql`select 1 from ${database.sql(table)} where tenant_id = ${tenantId}`).length] as const,
  )
  return Object.fromEntries(await Promise.all(counts))
}

test('runs are deleted once they ended too many days ago, with all their rows; open ones and those of others stay', async () => {
  const mine = await workspace('ten_mine', 3)
  const other = await workspace('ten_other', 2)
  await keepRuns(mine.ctx, { days: 30 })
  const before = await rowsOf(other.ctx)
  expect(await sweep(29)).toEqual({ deleted: 0 })
  expect(await sweep(32)).toEqual({ deleted: 3 })
  expect(await rowsOf(mine.ctx)).toEqual({ runs: 1, walks: 1, step_records: 1, pauses: 1 })
  expect((await getRunStatus(mine.ctx, { runId: mine.open })).status).toBe('paused')
  await expect(getRunStatus(mine.ctx, { runId: mine.done[0] ?? '' })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  expect(await rowsOf(other.ctx)).toEqual(before)

  // Insights still count deleted runs.
  const later = { ...mine.ctx, now: () => new Date(Date.now() + 32 * DAY_MS) }
  expect((await readInsights(later, { days: 90 })).total.succeeded).toBe(3)
  expect(await sweep(32)).toEqual({ deleted: 0 })
  await keepRuns(mine.ctx, { days: null })
})

test('a run with a message still to be delivered stays until it is', async () => {
  const { ctx, done } = await workspace('ten_told', 1)
  await keepRuns(ctx, { days: 1 })
  await database.sql`
    insert into webhook_endpoints (tenant_id, id, url, description, events, secrets, created_by, updated_by)
    values (${ctx.tenantId}, 'wh_1', 'https://a.example', '', '{}', '[]', 'key', 'key')`
  await database.sql`
    insert into webhook_deliveries (tenant_id, id, endpoint_id, type, run_id)
    values (${ctx.tenantId}, 'msg_1', 'wh_1', 'run.completed', ${done[0] ?? ''})`
  expect(await sweep(40)).toEqual({ deleted: 0 })
  await database.sql`update webhook_deliveries set status = 'delivered', ended_at = now() where tenant_id = ${ctx.tenantId}`
  expect(await sweep(40)).toEqual({ deleted: 1 })
  await keepRuns(ctx, { days: null })
})

test('nothing is deleted before its day is counted', async () => {
  const { ctx } = await workspace('ten_counted', 1)
  await keepRuns(ctx, { days: 1 })
  const at = { db: runtime.db, log: runtime.ctx.log, now: () => new Date(Date.now() + 3 * DAY_MS) }
  expect(await deleteOldRuns(at, async () => false)).toEqual({ deleted: 0 })
  expect(await deleteOldRuns(at, async () => true)).toEqual({ deleted: 1 })
  await keepRuns(ctx, { days: null })
})

test('more than a batch is deleted in turns', async () => {
  const ctx = await runtime.as('owner', 'ten_many')
  const { id } = await createWorkflow(ctx, { name: 'W', ...DONE })
  await database.sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, outcome, input, data, started_by,
      start_time, end_time)
    select ${ctx.tenantId}, 'run_MANY' || n, ${id}, 1, 'W', 'completed', 'succeeded', '{}', '{}', 'key', now(), now()
    from generate_series(1, 450) n`
  await keepRuns(ctx, { days: 1 })
  expect(await sweep(10)).toEqual({ deleted: 450 })
})

test.each([0, -1, 1.5, 3_651, '30', undefined])('%s days are refused', async (days) => {
  await expect(keepRuns(runtime.ctx, { days })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('only owners have runs deleted', async () => {
  await expect(keepRuns(withRole(runtime.ctx, 'admin'), { days: 30 })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})
