import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sql } from '@/db/index'
import { database as processDatabase } from '@/server/database'
import { forget } from '@/server/interpreter/recall/run'
import { watchDue } from '@/server/interpreter/wait/due'
import { resumeRun } from '@/server/runs/resume'
import { startAndWait } from '@/server/runs/start-and-wait'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// The statements that every run sends find their rows by primary key. Partial indexes on open walks and records are
// tempting, and read every dead entry. Before the tables are first analyzed, after the first runs, all indexes cost
// Postgres the same, and it may take another one.

let database: FreshDatabase
let runtime: TestRuntime
const sent = new Set<string>()

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  runtime = await startTestRuntime(database.url)
  const debug = (_connection: number, text: string) => sent.add(text)
  for (const pool of [rows(), others()]) Object.assign(pool.options, { debug })
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

const rows = () => processDatabase().db.$client.rows
const others = () => processDatabase().sql

const ROWS = 20_000
/** Statements of every step of every run, and the one that removes an ended run's job. */
const HOT = /^\s*(with i as \(|delete from engine\.jobs )/
/** The status of a run, and the first read of an answer. */
const READS = /^\s*select .* from "(runs" cross join lateral|pauses" inner join "runs")/s

const PLAIN = { from: 'a', to: 'end' }

interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: Node[]
}

function scansOf(node: Node): string[] {
  const { 'Relation Name': table, 'Index Name': index, 'Index Cond': condition } = node
  const how = index === undefined ? node['Node Type'] : condition ? index : `all of ${index}`
  const own = table && !node['Node Type'].startsWith('Modify') ? [`${table} by ${how}`] : []
  return [...own, ...(node.Plans ?? []).flatMap(scansOf)]
}

async function scans(pool: Sql, text: string): Promise<string[]> {
  const lines = await pool.unsafe(`explain (generic_plan, format json) ${text}`)
  const plans = lines.flatMap((row) => row['QUERY PLAN'] as { Plan: Node }[])
  return [...new Set(plans.flatMap(({ Plan }) => scansOf(Plan)))].sort()
}

test('the statements of a run find their rows by primary key', async () => {
  const ask = { id: 'ask', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }] }
  const steps = [
    { id: 'a', type: 'test-effect' },
    ask,
    { id: 'b', type: 'test-effect' },
    { id: 'end', type: 'end-flow' },
  ]
  const edges = steps.slice(1).map(({ id }, at) => ({ from: steps[at]?.id, to: id }))
  const { id: workflowId } = await createWorkflow(runtime.ctx, { name: 'Plans', steps, edges })
  await publishWorkflow(runtime.ctx, { id: workflowId })
  const { signal } = new AbortController()
  const start = (id = workflowId) => startAndWait(runtime.ctx, { workflowId: id, body: {}, prefer: null, signal })
  const { run } = await start()
  // Its answer is then read first, like a later one.
  forget(run.runId)
  await resumeRun(runtime.ctx, { runId: run.runId, body: { type: 'request_user_action', actionId: 'ok' } })
  await runtime.wait(run.runId)
  // Jobs are removed together when several runs end or pause within moments.
  const together = async () => {
    await Promise.all([start(), start(), start()])
    return [...sent].some((text) => /^\s*delete from engine\.jobs where id = any/.test(text))
  }
  await expect.poll(together).toBe(true)
  const hot = [...sent].filter((text) => HOT.test(text))
  // The start, the pause, the answer, a step and the end.
  expect(hot.length).toBeGreaterThanOrEqual(4)
  const reads = [...sent].filter((text) => READS.test(text))
  expect(reads.length).toBe(2)

  const check = async (when: string) => {
    // A tenant's few workflows fit into a page, which costs no more to read whole.
    const found = new Set(
      (await Promise.all(hot.map((text) => scans(rows(), text))))
        .flat()
        .filter((scan) => !scan.startsWith('workflows ')),
    )
    const bad = [...found].filter((scan) => !/ by (\w+_pk(ey)?|CTE Scan|Function Scan|Result)$/.test(scan))
    expect(bad, when).toEqual([])
    const read = (await Promise.all(reads.map((text) => scans(others(), text))))
      .flat()
      .filter((scan) => scan.startsWith('pauses '))
    // A table of one page is read whole, until it is analyzed again.
    expect(
      read.filter((scan) => !/_pk$| by Seq Scan$/.test(scan)),
      when,
    ).toEqual([])
    for (const table of ['runs', 'walks', 'step_records', 'pauses', 'jobs'])
      expect([...found].filter((scan) => scan.startsWith(`${table} by `)).length, `${table}, ${when}`).toBe(1)
  }
  const fill = (from: number, to: number) =>
    database.sql.begin(async (tx) => {
      await tx`
      insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, input, data, started_by, start_time)
      select ${runtime.ctx.tenantId}, 'run_' || n, ${workflowId}, 1, 'W', 'completed', '{}', '{}', 'x', now()
      from generate_series(${from}::int, ${to}::int) n`
      await tx`
      insert into walks (tenant_id, run_id, branch, epoch, segment, status, engine_run_id, step_id, visit)
      select ${runtime.ctx.tenantId}, 'run_' || n, 'main', 1, 1, case when n % 1000 = 0 then 'walking' else 'ended' end,
        'e', 's', 1 from generate_series(${from}::int, ${to}::int) n`
      await tx`
      insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time)
      select ${runtime.ctx.tenantId}, 'run_' || n % ${Math.ceil(to / 40)}::int + 1, 'main', 's' || n, 1, 't', 's', 'completed', now()
      from generate_series(${from}::int, ${to}::int) n`
      await tx`
      insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind, signal, answered_at, consumed_at)
      select ${runtime.ctx.tenantId}, 'p' || n, 'run_' || n, 'main', 's', 1, 'collect_inputs', '{}', done, done from (
        select n, case when n % 20 <> 0 then now() end as done
        from generate_series(${from}::int, ${to}::int) n) each`
    })
  // A process has the tables of its first runs analyzed (`young.ts`), except those that are nearly empty.
  const counted = async (table: string) =>
    (await database.sql`select reltuples from pg_class where oid = ${table}::regclass`)[0]?.reltuples > 0
  const plain = await createWorkflow(runtime.ctx, { name: 'Plain', steps: [steps[0], steps[3]], edges: [PLAIN] })
  await publishWorkflow(runtime.ctx, { id: plain.id })
  for (let started = 0; started < 50; started++) await start(plain.id)
  // One after the other, each in a transaction of its own: until a table's turn comes, its indexes cost the same.
  const filled = ['runs', 'walks', 'step_records']
  await expect.poll(() => Promise.all(filled.map(counted)), { timeout: 30_000 }).not.toContain(false)
  expect(await counted('pauses')).toBe(false)
  await check('counted with hardly any pauses')
  await fill(1, 60)
  await database.sql`analyze`
  await check('counted while small')
  await fill(61, ROWS)
  await database.sql`analyze`
  await check('analyzed')
  for (const text of reads) expect(await scans(others(), text)).not.toContain('pauses by Seq Scan')
  await database.sql`delete from runs where id ~ '^run_[0-9]+$'`
})

test('where delays are left to engine runs, the questions that are due are found without reading the delays', async () => {
  const db = processDatabase().db as never
  const clock = { db, log: runtime.ctx.log, now: () => new Date() }
  const { id } = await createWorkflow(runtime.ctx, {
    name: 'Delays',
    steps: [{ id: 's', type: 'end-flow' }],
    edges: [],
  })
  await publishWorkflow(runtime.ctx, { id })
  await database.sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, input, data, started_by, start_time)
    values (${runtime.ctx.tenantId}, 'run_delays', ${id}, 1, 'W', 'paused', '{}', '{}', 'x', now())`
  await database.sql`
    insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind, due_at)
    select ${runtime.ctx.tenantId}, 'main:s#' || n || case when n % 200 = 0 then '~2' else '' end, 'run_delays', 'main', 's', n,
      'timer', now() + n * interval '1 minute' from generate_series(1, 1000) n`
  await database.sql`analyze`
  watchDue(clock)()
  sent.clear()
  watchDue(clock, { pauses: 'questions' })
  const looks = () => [...sent].filter((text) => text.includes('from "pauses"') && text.includes("~ '~"))
  await expect.poll(() => looks().length).toBe(2)
  for (const text of looks()) expect(await scans(others(), text)).toEqual(['pauses by pauses_due_of_agents'])
  watchDue(clock)
  await database.sql`delete from runs where id = 'run_delays'`
})
