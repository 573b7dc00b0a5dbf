import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { readsDatabase } from '@/server/database'
import { exportRuns } from '@/server/runs/export'
import type { PresentedRun } from '@/server/runs/present'
import { getRunStatus } from '@/server/runs/status'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { forge } from '../support/invariants/finality'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

const MIB = 1024 * 1024
const BASE = '2026-01-01T00:00:00.000Z'
let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime?.stop()
  await readsDatabase().close()
  await database?.close()
})

/** A workspace with a workflow, and a way to add runs of it that have ended; seven start at the same moment. */
async function workspace(tenantId: string) {
  const ctx = await runtime.as('owner', tenantId)
  const { id } = await createWorkflow(ctx, { name: 'W', steps: [{ id: 'set', type: 'set-data', values: { a: 1 } }] })
  const add = (name: string, count: number, { startedBy = 'key', bytes = 0, afterS = 0 } = {}) => database.sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, outcome, input, data, started_by,
      started_via, start_time, end_time)
    select ${tenantId}, ${name} || lpad(n::text, 4, '0'), ${id}, 1, 'W', 'completed', 'succeeded', '{}',
      case when ${bytes}::int = 0 then '{}' else jsonb_build_object('text',
        (select string_agg(md5(n || '.' || i), '') from generate_series(1, ${bytes / 32}::int) i)) end,
      ${startedBy}, 'jwt',
      ${BASE}::timestamptz + ${afterS} * interval '1 second' + (n / 7) * interval '1 second', now()
    from generate_series(1, ${count}::int) n`
  return { ctx, workflowId: id, add }
}

async function linesOf(ctx: ServiceContext, query: object) {
  const text = await new Response(await exportRuns(ctx, query)).text()
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  return { runs: lines.slice(0, -1) as PresentedRun[], ...(lines.at(-1) as { nextCursor: string | null }) }
}

test('every run that had ended is in an export once, in order, even while runs start or are deleted', async () => {
  const { ctx, add, workflowId } = await workspace('ten_once')
  const others = await workspace('ten_others')
  await others.add('run_OTHER', 5)
  await add('run_B', 200)
  const seen: PresentedRun[] = []
  let cursor: string | undefined
  for (let answers = 1; ; answers++) {
    const { runs, nextCursor } = await linesOf(ctx, { limit: '33', workflowId, ...(cursor ? { cursor } : {}) })
    seen.push(...runs)
    if (nextCursor === null) break
    cursor = nextCursor
    // Before, between and after the ones that were exported.
    if (answers === 2) await add('run_A', 20)
    if (answers === 3) await database.sql`delete from runs where id in ('run_B0001', 'run_B0190', 'run_B0191')`
    if (answers === 4) await add('run_C', 10, { afterS: 60 })
  }
  const ids = seen.map(({ runId }) => runId)
  expect(new Set(ids).size).toBe(ids.length)
  const kept = Array.from({ length: 200 }, (_, n) => `run_B${String(n + 1).padStart(4, '0')}`)
  const missing = kept.filter((id) => !ids.includes(id))
  expect(missing).toEqual(['run_B0190', 'run_B0191'])
  expect(ids.filter((id) => id.startsWith('run_C'))).toHaveLength(10)
  expect(ids.filter((id) => id.startsWith('run_OTHER'))).toEqual([])
  const places = seen.map(({ startTime, runId }) => `${startTime} ${runId}`)
  expect(places).toEqual([...places].sort())
})

test('a line equals the status; filters and the reach of the caller hold', async () => {
  const { ctx, add } = await workspace('ten_lines')
  await add('run_X', 14)
  await add('run_ADA', 1, { startedBy: 'ada', afterS: 100 })
  const all = await linesOf(ctx, {})
  expect(all.runs).toHaveLength(15)
  for (const run of all.runs.slice(-3)) expect(run).toEqual(JSON.parse(JSON.stringify(await getRunStatus(ctx, run))))
  expect((await linesOf(ctx, { status: 'failed' })).runs).toEqual([])
  const [from, to] = ['2026-01-01T00:00:01Z', '2026-01-01T01:00:02+01:00']
  expect((await linesOf(ctx, { from, to })).runs).toHaveLength(7)
  const reach = { workflowIds: null, agentIds: null, ownRuns: true }
  const ada: ServiceContext = { ...ctx, actor: { kind: 'jwt', id: 'ada', role: 'operator' } as never, reach }
  expect((await linesOf(ada, {})).runs.map(({ runId }) => runId)).toEqual(['run_ADA0001'])
  expect(await linesOf(await runtime.as('viewer', 'ten_empty'), {})).toEqual({ runs: [], nextCursor: null })
})

test('large runs are read one by one, when the caller has taken the last one', async () => {
  const { ctx, add } = await workspace('ten_large')
  await forge(database.sql, ['run_L0001', 'run_L0002', 'run_L0003', 'run_L0004', 'run_L0005'])
  await add('run_L', 12, { bytes: 3 * MIB })
  const reader = (await exportRuns(ctx, {})).getReader()
  const sizes: number[] = []
  const first = await reader.read()
  sizes.push(first.value?.byteLength ?? 0)
  // The rest was not read yet.
  await database.sql`delete from runs where tenant_id = 'ten_large' and id >= 'run_L0006'`
  for (;;) {
    const { value, done } = await reader.read()
    if (done) break
    sizes.push(value.byteLength)
  }
  expect(Math.max(...sizes)).toBeLessThan(4 * MIB)
  expect(sizes.filter((size) => size > MIB)).toHaveLength(5)
})

test('a workspace has two exports at a time, until they end or their callers leave', async () => {
  const { ctx, add } = await workspace('ten_slots')
  await add('run_S', 3)
  const [one, two] = [await exportRuns(ctx, {}), await exportRuns(ctx, {})]
  const full = { code: 'UNAVAILABLE', headers: { 'retry-after': '5' } }
  await expect(exportRuns(ctx, {})).rejects.toMatchObject(full)
  await one.cancel()
  await expect(exportRuns(ctx, { cursor: 'x' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  const three = await exportRuns(ctx, {})
  await expect(exportRuns(ctx, {})).rejects.toMatchObject(full)
  for (const stream of [two, three]) await new Response(stream).text()
  expect((await linesOf(ctx, {})).runs).toHaveLength(3)
})

test.each([{ limit: '0' }, { limit: '10001' }, { from: 'yesterday' }, { to: '0000-01-01T00:00:00Z' }, { status: 'x' }])(
  '%o is refused',
  async (query) => {
    await expect(exportRuns(runtime.ctx, query)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  },
)
