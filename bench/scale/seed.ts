import type { Sql } from '@/db/types'
import { base32, DIGITS } from '@/lib/base32'
import { addMonth, type Defined, DIVIDED, divide, index, restore, strip } from './tables'

export interface Size {
  runs: number
  tenants: number
  months: number
  buckets: number
  minutes: number
}

export interface Seeded {
  runs: number
  minutes: number
  /** Set if it stopped before all months were done. */
  stopped: boolean
}

/** The number of places from which tenants and workflows are drawn; each has several. */
const SLOTS = 65_536

/** The first ten letters of an id made at a time. */
export const timeOfId = (ms: number) => base32(ms, 10)

/** The same in SQL. */
const timeSql = (ms: string) =>
  Array.from({ length: 10 }, (_, at) => `substr('${DIGITS}', ((${ms} >> ${45 - 5 * at}) & 31)::int + 1, 1)`).join(
    ' || ',
  )

/**
 * Fills an empty, migrated database with workspaces: the first has about a seventh of all runs, the second half as
 * many, and so on. Each has eight workflows. Most runs succeeded; some failed, were stopped, wait or are in progress.
 * One run in 128 has its history and an answered task, and so, in part, has every run that failed or waits; one in 16
 * has the record of an agent's answer. All histories together would be several times the size of the runs, and each is
 * found by the run's key alone.
 */
export async function seed(sql: Sql, size: Size, now: Date, log: (text: string) => void): Promise<Seeded> {
  const begun = performance.now()
  const late = () => performance.now() - begun > size.minutes * 60_000
  const buckets = Math.max(1, size.buckets)
  const defined = await strip(sql)
  if (size.buckets > 0) await divide(sql)
  await addTenants(sql, size.tenants, buckets, size.buckets > 0)
  const shares = await sql<{ bucket: number; share: number }[]>`
    select bucket, sum(weight) / (select sum(weight) from scale.shares) as share from scale.shares group by 1 order by 1`
  let done = 0
  let stopped = false
  // The newest first: if time runs out, the oldest are missing.
  for (const month of monthsUntil(now, size.months).reverse()) {
    if (size.buckets > 0) await addMonth(sql, month, buckets)
    if (late()) stopped = true
    if (month.share === 0 || stopped) {
      if (size.buckets > 0) await addIndexes(sql, month.name, buckets, defined)
      continue
    }
    for (const { bucket, share } of shares) {
      const count = Math.round(size.runs * month.share * share)
      await load(sql, { month, bucket, count, first: done, divided: size.buckets > 0, now: now.getTime() }, defined)
      done += count
    }
    log(`${month.name}: ${done} runs after ${Math.round((performance.now() - begun) / 1000)} s`)
  }
  await restore(sql, defined)
  if (size.buckets === 0) await sql`vacuum analyze runs`
  else for (const table of Object.keys(DIVIDED)) await sql.unsafe(`analyze only ${table}`)
  await sql`vacuum analyze pauses`
  for (const table of ['step_records', 'walks', 'workflows', 'workflow_versions', 'tenants'])
    if (size.buckets === 0 || !(table in DIVIDED)) await sql.unsafe(`analyze ${table}`)
  return { runs: done, minutes: (performance.now() - begun) / 60_000, stopped }
}

interface Month {
  name: string
  /** The bounds of its ids. */
  from: string
  to: string
  start: number
  end: number
  /** Of all runs. */
  share: number
}

/** Calendar months; the last one is the next month, which is still empty. */
function monthsUntil(now: Date, count: number): Month[] {
  const at = (months: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1)
  const first = at(1 - count)
  return Array.from({ length: count + 1 }, (_, n) => {
    const [start, end] = [at(n + 1 - count), at(n + 2 - count)]
    const until = Math.min(end, now.getTime())
    return {
      name: new Date(start).toISOString().slice(0, 7).replace('-', '_'),
      from: `run_${timeOfId(start)}`,
      to: `run_${timeOfId(end)}`,
      start,
      end: until,
      share: Math.max(0, until - start) / (now.getTime() - first),
    }
  })
}

async function addTenants(sql: Sql, tenants: number, buckets: number, divided: boolean): Promise<void> {
  await sql`create schema scale`
  await sql.unsafe(`
    insert into tenants (id, slug, name)
    select 'ten_01K' || upper(substr(md5('tenant' || n), 1, 23)), 'scale-' || n, 'Workspace ' || n
    from generate_series(1, ${tenants}) n`)
  const bucket = divided ? `satisfies_hash_partition('scale.places'::regclass, ${buckets}, b, t.id)` : 'true'
  // Only used to compute a tenant's bucket.
  await sql.unsafe(`create table scale.places (tenant_id text) partition by hash (tenant_id)`)
  await sql.unsafe(`
    create table scale.shares as
    select b as bucket, t.id as tenant_id, split_part(t.slug, '-', 2)::int as rank, w,
      'wf_01K' || upper(substr(md5(t.id || w), 1, 23)) as workflow_id, w <= 4 as keyed,
      (array['Order intake', 'Refund', 'Nightly import', 'Invoice approval', 'Onboarding', 'Address check',
        'Contract review', 'Cleanup'])[w] as name,
      'key_01K' || upper(substr(md5('key' || t.id), 1, 23)) as key_id,
      'usr_01K' || upper(substr(md5('user' || t.id), 1, 23)) as user_id,
      1.0 / split_part(t.slug, '-', 2)::int * (array[40, 20, 15, 10, 6, 4, 3, 2])[w] as weight
    from tenants t cross join generate_series(0, ${buckets - 1}) b cross join generate_series(1, 8) w
    where ${bucket}`)
  await sql.unsafe(`
    create table scale.slots as
    select bucket, slot, tenant_id, rank, workflow_id, name, keyed, key_id, user_id
    from (
      select *, floor(${SLOTS} * (sum(weight) over w - weight) / sum(weight) over (partition by bucket)) as low,
        floor(${SLOTS} * sum(weight) over w / sum(weight) over (partition by bucket)) as high
      from scale.shares window w as (partition by bucket order by rank, w)) r
    cross join lateral generate_series(low::int, high::int - 1) slot`)
  await sql`create index on scale.slots (bucket, slot)`
  await sql`analyze scale.slots`
  await sql.unsafe(`
    insert into users (id, email, name) select distinct user_id, lower(user_id) || '@example.com', 'Owner' from scale.shares;
    insert into members (tenant_id, user_id, role) select distinct tenant_id, user_id, 'owner' from scale.shares;
    insert into workflows (tenant_id, id, name, description, status, version, published_version, created_by, updated_by)
      select tenant_id, workflow_id, name, '', 'published', 1, 1, user_id, user_id from scale.shares;
    insert into workflow_versions (tenant_id, workflow_id, version, name, definition, created_by, published_at)
      select tenant_id, workflow_id, 1, name, json_build_object('name', name, 'description', '', 'initialStep', 'charge',
        'payload', '{}'::json, 'edges', '[{"from": "charge", "to": "approve"}, {"from": "approve", "to": "done"}]'::json,
        'steps', '[{"id": "charge", "type": "call-tool", "name": "Charge the card", "toolId": "tool_add"},
          {"id": "approve", "type": "request-user-action", "name": "Approve", "title": "Approve the order?",
            "actions": [{"id": "yes", "label": "Yes"}]},
          {"id": "done", "type": "end-flow", "name": "Done"}]'::json), user_id, now()
      from scale.shares`)
}

interface Load {
  month: Month
  bucket: number
  count: number
  /** The number of the first run. */
  first: number
  divided: boolean
  now: number
}

/** In a month without runs. Postgres would choose other names. */
async function addIndexes(sql: Sql, month: string, buckets: number, defined: readonly Defined[]): Promise<void> {
  for (const one of defined.filter(({ table }) => table in DIVIDED))
    for (let bucket = 0; bucket < buckets; bucket++) await index(sql, one, `${month}_${bucket}`)
}

/** Fills one partition of each table in time order, so that a tenant's runs lie between those of others. */
async function load(sql: Sql, { month, bucket, count, first, divided, now }: Load, defined: readonly Defined[]) {
  const leaf = `${month.name}_${bucket}`
  const of = (table: string) => (divided ? `${table}_${leaf}` : table)
  const runs = divided ? of('runs') : `(select * from runs where change > ${first} and change <= ${first + count})`
  const parts = defined.filter(({ table }) => table in DIVIDED)
  await sql.begin(async (tx) => {
    if (divided) {
      // Recreated in this transaction, so that its writes need no log.
      for (const { table } of parts) await tx.unsafe(`truncate ${of(table)}`)
    }
    await tx.unsafe(runsSql(of('runs'), { month, bucket, count, first, now }))
    for (const statement of historySql(of('step_records'), of('walks'), runs)) await tx.unsafe(statement)
    if (divided) for (const one of parts) await index(tx as unknown as Sql, one, leaf)
  })
  if (divided) for (const { table } of parts) await sql.unsafe(`vacuum analyze ${of(table)}`)
}

function runsSql(table: string, { month, bucket, count, first, now }: Omit<Load, 'divided'>): string {
  const step = Math.max(1, Math.floor((month.end - month.start) / Math.max(1, count)))
  const minutes = (n: number) => n * 60_000
  return `
    insert into ${table} (tenant_id, id, workflow_id, workflow_version, workflow_name, business_key, status, outcome, input,
      data, result, error, current_step_id, started_by, started_via, start_time, written_at, end_time, updated_at, change)
    select s.tenant_id, 'run_' || ${timeSql('r.ms')} || '000' || upper(substr(md5(r.n::text), 1, 13)),
      s.workflow_id, 1, s.name, case when s.keyed then 'ORD-' || (r.h & 268435455) end,
      case o.outcome when 'running' then 'running' when 'paused' then 'paused' when 'succeeded' then 'completed' else 'failed' end,
      case when o.outcome not in ('running', 'paused') then o.outcome end,
      jsonb_build_object('orderId', r.h & 268435455, 'amount', (r.h >> 8) & 4095),
      jsonb_build_object('orderId', r.h & 268435455, 'customer', 'C-' || ((r.h >> 20) & 65535)),
      case when o.outcome = 'succeeded' then '{"ok": true}'::jsonb end,
      case when o.outcome in ('failed', 'timed_out') then jsonb_build_object('code',
        (array['HTTP_ERROR', 'TOOL_ERROR', 'HTTP_ERROR', 'STEP_TIMED_OUT', 'SCRIPT_ERROR', 'HTTP_ERROR', 'AGENT_ERROR', 'VALIDATION_FAILED'])
          [((r.h >> 36) & 7)::int + 1], 'message', 'The shop answered 503.', 'stepId', 'charge') end,
      case o.outcome when 'succeeded' then 'done' when 'paused' then 'approve' else 'charge' end,
      case v.via when 'apiKey' then s.key_id when 'jwt' then 'user_' || ((r.h >> 24) & 4095) when 'system' then 'system' else s.user_id end,
      v.via, t.at, t.at,
      case when o.outcome not in ('running', 'paused') then least(t.at + t.took, to_timestamp(${now} / 1000.0)) end,
      t.at, r.n
    from (
      select ${first} + i as n, hashint8extended(${first} + i, 7) as h, ${month.start} + (i - 1) * ${step}::bigint as ms
      from generate_series(1, ${count}) i offset 0) r
    join scale.slots s on s.bucket = ${bucket} and s.slot = (r.h & ${SLOTS - 1})
    cross join lateral (select ((r.h >> 16) & 8191) as x, ((r.h >> 32) & 127) as y, ${now} - r.ms as age) d
    cross join lateral (select case
      when d.x < 16 and d.age < ${minutes(60 * 24 * 60)} or d.x < 2 then 'paused'
      when d.x in (16, 17) and d.age < ${minutes(60 * 24 * 7)} or d.age < ${minutes(0.1)} then 'running'
      when d.x between 18 and 222 then 'failed' when d.x between 223 and 238 then 'timed_out'
      when d.x between 239 and 279 then 'cancelled' when d.x between 280 and 288 then 'terminated'
      else 'succeeded' end as outcome offset 0) o
    cross join lateral (select case when d.y < 77 then 'apiKey' when d.y < 115 then 'jwt' when d.y < 122 then 'user'
      when d.y = 122 then 'test' else 'system' end as via offset 0) v
    cross join lateral (select to_timestamp(r.ms / 1000.0) as at,
      make_interval(secs => ((50 << ((r.h >> 40) & 15)::int) + ((r.h >> 44) & 1023)) / 1000.0) as took offset 0) t`
}

function historySql(stepRecords: string, walks: string, runs: string): string[] {
  const record = `
    insert into ${stepRecords} (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time, end_time,
      config, input_data, output_data, input_bytes, output_bytes, error, error_code, receipt, change)
    select r.tenant_id, r.id, 'main', v.id, 1, v.type, v.name,
      case when r.current_step_id <> v.id or r.outcome = 'succeeded' then 'completed' when r.end_time is null then 'running' else 'failed' end,
      r.start_time + v.n * interval '10 ms', case when r.current_step_id = v.id and r.end_time is null then null
        else r.start_time + v.n * interval '10 ms' + interval '8 ms' end,
      '{"toolId": "tool_add"}', r.input, r.data, 40, 60,
      case when r.current_step_id = v.id then r.error->>'message' end, case when r.current_step_id = v.id then r.error->>'code' end,
      '{"go": {"at": "done", "visit": 1}}', r.change
    from ${runs} r cross join lateral (values ('charge', 'call-tool', 'Charge the card', 0),
      ('approve', 'request-user-action', 'Approve', 1), ('done', 'end-flow', 'Done', 2)) v(id, type, name, n)
    where r.change % 128 = 0 or (r.status <> 'completed' and v.id = r.current_step_id)`
  const agent = `
    insert into ${stepRecords} (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time, end_time,
      input_data, usage, change)
    select r.tenant_id, r.id, 'main', 'read', 1, 'call-agent', 'Read the message', 'completed', r.start_time,
      r.start_time + interval '2 s', jsonb_build_object('agentId', 'agt_' || (r.change >> 8) % 8),
      jsonb_build_object('usage', jsonb_build_object('inputTokens', 900 + r.change % 700, 'outputTokens', 80, 'totalTokens', 1200),
        'threadId', 'thr_' || r.change) || case when r.change % 64 = 1 then '{}' else '{"cost": 0.0042}' end::jsonb, r.change
    from ${runs} r where r.change % 16 = 1 and r.end_time is not null`
  const walk = `
    insert into ${walks} (tenant_id, run_id, branch, epoch, segment, status, step_id, visit)
    select tenant_id, id, 'main', 1, 1, case status when 'paused' then 'resting' else 'walking' end, current_step_id, 1
    from ${runs} r where end_time is null`
  const pause = `
    insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind, signal, created_at, answered_at, answer,
      answered_by, consumed_at)
    select r.tenant_id, 'main:approve#1', r.id, 'main', 'approve', 1, 'request_user_action',
      json_strip_nulls(json_build_object('type', 'request_user_action', 'stepId', 'approve', 'title', 'Approve the order ' || (r.data->>'orderId') || '?',
        'actions', '[{"id": "yes", "label": "Yes"}, {"id": "no", "label": "No"}]'::json, 'assignees',
        case when r.change % 3 = 0 then '["role:owner"]'::json when r.change % 50 = 1 then json_build_array('user:' || m.user_id) end)),
      r.start_time + interval '10 ms', done.at, case when done.at is not null
        then '{"type": "request_user_action", "actionId": "yes", "actionValue": "yes"}'::jsonb end,
      case when done.at is not null then m.user_id end, done.at
    from ${runs} r join members m on m.tenant_id = r.tenant_id
    cross join lateral (select r.end_time as at) done
    where r.status = 'paused' or (r.change % 128 = 0 and r.outcome = 'succeeded')`
  return [record, agent, walk, pause]
}
