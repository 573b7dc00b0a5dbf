import type { Sql } from '@/db/index'
import { forge } from './invariants/finality'

/** The minimal workflow that these runs need: a row, and the version they are pinned to. */
async function seedWorkflow(sql: Sql, tenantId: string, id: string, name: string, steps: number): Promise<void> {
  const definition = {
    name,
    description: '',
    initialStep: 'step_0',
    payload: {},
    steps: Array.from({ length: steps }, (_, index) => ({
      id: `step_${index}`,
      type: 'call-tool',
      name: `Step ${index}`,
      toolId: 'tool_add',
    })),
    edges: Array.from({ length: steps - 1 }, (_, index) => ({ from: `step_${index}`, to: `step_${index + 1}` })),
  }
  await sql`insert into workflows (tenant_id, id, name, description, status, version, published_version, created_by, updated_by)
    values (${tenantId}, ${id}, ${name}, '', 'published', 1, 1, 'system', 'system') on conflict do nothing`
  await sql`insert into workflow_versions (tenant_id, workflow_id, version, name, definition, created_by, published_at)
    values (${tenantId}, ${id}, 1, ${name}, ${sql.json(definition as never)}, 'system', now()) on conflict do nothing`
}

export interface LongRun {
  runId: string
  /** The failed visit: the last one. */
  failedSeq: number
}

const LONG_STEPS = 200

/**
 * A failed run with a long history: two hundred steps visited repeatedly. Every tenth visit took two attempts and every
 * twentieth was queued for a while. The last one failed, with an input of more than a megabyte.
 */
export async function seedLongRun(sql: Sql, tenantId: string, visits = 5_000): Promise<LongRun> {
  const runId = `run_LONG${visits}`
  await seedWorkflow(sql, tenantId, 'wf_long', 'A long history', LONG_STEPS)
  const error = {
    code: 'HTTP_ERROR',
    message: 'The partner answered 503.',
    stepId: `step_${(visits - 1) % LONG_STEPS}`,
  }
  const began = new Date(Date.now() - 2 * 3_600_000).toISOString()
  await sql`delete from runs where tenant_id = ${tenantId} and id = ${runId}`
  await forge(sql, [runId])
  await sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, outcome, input, data, error,
      current_step_id, started_by, started_via, start_time, end_time)
    values (${tenantId}, ${runId}, 'wf_long', 1, 'A long history', 'failed', 'failed', '{"orders": 5000}', '{}',
      ${sql.json(error)}, ${error.stepId}, 'system', 'system', ${began}::timestamptz,
      ${began}::timestamptz + ${visits}::int * interval '1 second')`
  await sql`
    insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, attempt, attempts,
      start_time, end_time, config, input_data, output_data, error, error_code)
    select ${tenantId}, ${runId}, 'main', 'step_' || (n % ${LONG_STEPS}::int), n / ${LONG_STEPS}::int + 1, 'call-tool',
      'Step ' || (n % ${LONG_STEPS}::int), case when n = ${visits - 1}::int then 'failed' else 'completed' end,
      case when n % 10 = 0 then 2 else 1 end,
      case when n % 10 = 0 then jsonb_build_array(
          jsonb_build_object('attempt', 1, 'startTime', at, 'endTime', at + interval '200 ms', 'error', 'timed out', 'retryInMs', 200),
          jsonb_build_object('attempt', 2, 'startTime', at + interval '400 ms', 'endTime', at + interval '900 ms'))
        when n % 20 = 1 then jsonb_build_array(
          jsonb_build_object('attempt', 1, 'startTime', at + interval '300 ms', 'endTime', at + interval '900 ms'))
        else '[]'::jsonb end,
      at, at + interval '900 ms', '{}',
      case when n = ${visits - 1}::int then jsonb_build_object('body', repeat('all work and no play ', 60000))
        else jsonb_build_object('n', n) end,
      jsonb_build_object('sum', n),
      case when n = ${visits - 1}::int then 'The partner answered 503.' end, case when n = ${visits - 1}::int then 'HTTP_ERROR' end
    from generate_series(0, ${visits - 1}::int) n,
      lateral (select ${began}::timestamptz + n * interval '1 second' as at) moment
    order by n`
  const [last] = await sql<{ seq: string }[]>`
    select max(seq) seq from step_records where tenant_id = ${tenantId} and run_id = ${runId}`
  return { runId, failedSeq: Number(last?.seq) }
}

/** Rows per statement, few enough that each ends before the database counts as unavailable. */
const CHUNK = 10_000

/**
 * Many runs of ten workflows over the last hundred days, one every 86 seconds: most completed, one in fifty failed, one
 * in a thousand cancelled, one in five thousand waiting for a person.
 */
export async function seedManyRuns(sql: Sql, tenantId: string, count = 100_000): Promise<void> {
  for (let index = 0; index < 10; index++) await seedWorkflow(sql, tenantId, `wf_many_${index}`, `Import ${index}`, 3)
  for (let first = 1; first <= count; first += CHUNK) {
    await sql`
      insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, outcome, input, data, result,
        error, current_step_id, started_by, started_via, start_time, end_time)
      select ${tenantId}, 'run_MANY' || lpad(n::text, 7, '0'), 'wf_many_' || (n % 10), 1, 'Import ' || (n % 10),
        case when n % 5000 = 1 then 'paused' when n % 50 = 0 or n % 1000 = 7 then 'failed' else 'completed' end,
        case when n % 5000 = 1 then null when n % 50 = 0 then 'failed' when n % 1000 = 7 then 'cancelled' else 'succeeded' end,
        jsonb_build_object('n', n), jsonb_build_object('n', n, 'text', repeat('data ', 100)), '{}',
        case when n % 50 = 0 then '{"code": "HTTP_ERROR", "message": "The partner answered 503.", "stepId": "step_1"}'::jsonb end,
        'step_1', 'key_seed', case when n % 3 = 0 then 'jwt' else 'apiKey' end,
        now() - n * interval '86 seconds',
        case when n % 5000 = 1 then null else now() - n * interval '86 seconds' + interval '2 seconds' end
      from generate_series(${first}::int, ${Math.min(first + CHUNK - 1, count)}::int) n on conflict do nothing`
  }
  await sql`
    insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind, signal, created_at)
    select tenant_id, 'main:step_1#1', id, 'main', 'step_1', 1, 'request_user_action',
      jsonb_build_object('type', 'request_user_action', 'stepId', 'step_1', 'title', 'May import ' || (data->>'n') || ' go on?',
        'actions', '[{"id": "yes", "label": "Yes"}, {"id": "no", "label": "No"}]'::jsonb),
      start_time
    from runs where tenant_id = ${tenantId} and status = 'paused' and id like 'run_MANY%' on conflict do nothing`
  await sql`vacuum analyze runs`
  await sql`analyze pauses`
}

export interface Iterations {
  runId: string
  /** The id of the fork. */
  fork: string
}

/**
 * A completed run that first made a list, then iterated over it: two steps per item, and every hundredth item failed at
 * the second.
 */
export async function seedIterations(sql: Sql, tenantId: string, items: number): Promise<Iterations> {
  const runId = `run_EACH${items}`
  const fork = 'main/each#1'
  const failed = Math.floor(items / 100)
  const definition = {
    name: 'Nightly import',
    description: '',
    initialStep: 'list',
    payload: {},
    steps: [
      { id: 'list', type: 'set-data', name: 'List the orders', values: {} },
      { id: 'each', type: 'for-each', name: 'Each order', items: '${orders}', onItemError: 'continue' },
      { id: 'look', type: 'condition', name: 'Is it new?', when: 'true' },
      { id: 'save', type: 'call-tool', name: 'Save the order', toolId: 'tool_add' },
      { id: 'end', type: 'end-flow', name: 'Done' },
    ],
    edges: [
      { from: 'list', to: 'each' },
      { from: 'each', to: 'look', on: 'each' },
      { from: 'look', to: 'save', on: 'true' },
      { from: 'each', to: 'end', on: 'done' },
    ],
  }
  await sql`insert into workflows (tenant_id, id, name, description, status, version, published_version, created_by, updated_by)
    values (${tenantId}, 'wf_each', ${definition.name}, '', 'published', 1, 1, 'system', 'system') on conflict do nothing`
  await sql`insert into workflow_versions (tenant_id, workflow_id, version, name, definition, language, created_by, published_at)
    values (${tenantId}, 'wf_each', 1, ${definition.name}, ${sql.json(definition as never)}, 1, 'system', now()) on conflict do nothing`
  await sql`delete from runs where tenant_id = ${tenantId} and id = ${runId}`
  await forge(sql, [runId])
  const began = new Date(Date.now() - 3_600_000).toISOString()
  await sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, outcome, input, data,
      current_step_id, started_by, started_via, start_time, end_time)
    values (${tenantId}, ${runId}, 'wf_each', 1, ${definition.name}, 'completed', 'succeeded', '{}', '{}', 'end', 'system',
      'system', ${began}::timestamptz, ${began}::timestamptz + ${items}::int * interval '10 ms')`
  const record = (steps: string, times: string) => sql`
    insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time, end_time,
      config, input_data, output_data, exit, error, error_code)
    select ${tenantId}, ${runId}, r.branch, r.step, 1, r.type, r.name, case when r.bad then 'failed' else 'completed' end,
      ${began}::timestamptz + r.at * interval '1 ms', ${began}::timestamptz + (r.at + r.took) * interval '1 ms', '{}', '{}', '{}', r.exit,
      case when r.bad then 'The shop answered 503.' end, case when r.bad then 'HTTP_ERROR' end
    from ${sql.unsafe(times)}, ${sql.unsafe(steps)} r(branch, step, type, name, at, took, exit, bad) order by n, r.at`
  await record(
    `lateral (values ('main', 'list', 'set-data', 'List the orders', 0, 4, null, false),
    ('main', 'each', 'for-each', 'Each order', 5, ${items * 10 - 10}, 'done', false))`,
    '(select 0 n) one',
  )
  await record(
    `lateral (values ('${fork}/' || n, 'look', 'condition', 'Is it new?', n * 10, 4, 'true', false),
      ('${fork}/' || n, 'save', 'call-tool', 'Save the order', n * 10 + 4, 4, null, n % 100 = 99))`,
    `generate_series(0, ${items - 1}) n`,
  )
  await record(
    `lateral (values ('main', 'end', 'end-flow', 'Done', ${items * 10}, 4, null, false))`,
    '(select 0 n) one',
  )
  await sql`insert into scopes (tenant_id, run_id, id, total, next, succeeded, failed, stop_on_error, state)
    values (${tenantId}, ${runId}, ${fork}, ${items}, ${items}, ${items - failed}, ${failed}, false, 'done')`
  await sql`
    insert into walks (tenant_id, run_id, branch, epoch, segment, status, step_id, visit, scope, position, data, arrival, updated_at)
    select ${tenantId}, ${runId}, ${fork} || '/' || n, 1, 1, 'ended', 'look', 1, ${fork}, n, '{}',
      case when n % 100 = 99
        then '{"failed": {"code": "HTTP_ERROR", "message": "The shop answered 503.", "stepId": "save"}, "outcome": "failed"}'::jsonb
        else '{"done": null}'::jsonb end,
      ${began}::timestamptz + (n * 10 + 8) * interval '1 ms'
    from generate_series(0, ${items - 1}::int) n`
  await sql`analyze step_records`
  await sql`analyze walks`
  return { runId, fork }
}
