import { afterAll, beforeAll, expect, test } from 'vitest'
import { database as processDatabase } from '@/server/database'
import { resumeRun } from '@/server/runs/resume'
import { startAndWait } from '@/server/runs/start-and-wait'
import { createWorkflow } from '@/server/workflows/create'
import { publishWorkflow } from '@/server/workflows/publish'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// The statements that every run sends find their rows by primary key. Partial indexes on open walks and records are
// tempting, and read every dead entry. Before the tables are first analyzed, after the first runs, all indexes cost Postgres
// the same, and it may take another one.

let database: FreshDatabase
let runtime: TestRuntime
const sent = new Set<string>()

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  runtime = await startTestRuntime(database.url)
  const { rows } = processDatabase().db.$client
  Object.assign(rows.options, { debug: (_connection: number, text: string) => sent.add(text) })
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

const ROWS = 20_000
/** Written with every step of every run, and what removes the job of one that has ended. */
const HOT = /^\s*(with i as \(|delete from engine\.jobs )/

interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  Plans?: Node[]
}

function scansOf(node: Node): string[] {
  const { 'Relation Name': table, 'Index Name': index } = node
  const own = table && !node['Node Type'].startsWith('Modify') ? [`${table} by ${index ?? node['Node Type']}`] : []
  return [...own, ...(node.Plans ?? []).flatMap(scansOf)]
}

async function scans(text: string): Promise<string[]> {
  const rows = await processDatabase().db.$client.rows.unsafe(`explain (generic_plan, format json) ${text}`)
  const plans = rows.flatMap((row) => row['QUERY PLAN'] as { Plan: Node }[])
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
  const start = () => startAndWait(runtime.ctx, { workflowId, body: {}, prefer: null, signal })
  const { run } = await start()
  await resumeRun(runtime.ctx, { runId: run.runId, body: { type: 'request_user_action', actionId: 'ok' } })
  await runtime.wait(run.runId)
  // Jobs are removed together when several runs end or pause at about the same time.
  const together = async () => {
    await Promise.all([start(), start(), start()])
    return [...sent].some((text) => /^\s*delete from engine\.jobs where id = any/.test(text))
  }
  await expect.poll(together).toBe(true)
  const hot = [...sent].filter((text) => HOT.test(text))
  // The start, the pause, the answer, a step and the end.
  expect(hot.length).toBeGreaterThanOrEqual(4)

  const check = async (when: string) => {
    // A tenant's few workflows fit into a page, which costs as much to read whole.
    const found = new Set((await Promise.all(hot.map(scans))).flat().filter((scan) => !scan.startsWith('workflows ')))
    const bad = [...found].filter((scan) => !/ by (\w+_pk(ey)?|CTE Scan|Function Scan|Result)$/.test(scan))
    expect(bad, when).toEqual([])
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
      insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind)
      select ${runtime.ctx.tenantId}, 'p' || n, 'run_' || n, 'main', 's', 1, 'collect_inputs'
      from generate_series(${from}::int, ${to}::int) n`
    })
  // A process has them counted after its first runs (`young.ts`).
  await fill(1, 60)
  await database.sql`analyze`
  await check('counted while small')
  await fill(61, ROWS)
  await database.sql`analyze`
  await check('analyzed')
  await database.sql`delete from runs where id ~ '^run_[0-9]+$'`
})
