import { afterAll, beforeAll, expect, test } from 'vitest'
import { countSubjectData } from '@/server/subjects/count'
import { deleteSubjectData } from '@/server/subjects/delete'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { forge } from '../support/invariants/finality'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

const BIG = process.env.SOAK ? 300_000 : 10_100

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { MILLRACE_EMBEDDED: '1' })
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

/** A workspace in which Eve has started runs that ended. */
async function workspace(tenantId: string, count: number) {
  const ctx = await runtime.as('owner', tenantId)
  const { id } = await createWorkflow(ctx, { name: 'W', steps: [{ id: 'set', type: 'set-data', values: {} }] })
  await database.sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, outcome, input, data, started_by,
      started_via, start_time, end_time)
    select ${tenantId}, 'run_' || n, ${id}, 1, 'W', 'completed', 'succeeded', '{}', '{}', 'eve', 'jwt', now(), now()
    from generate_series(1, ${count}::int) n`
  return ctx
}

const records = (tenantId: string, runId: string, count: number) => database.sql`
  insert into step_records (tenant_id, run_id, branch, step_id, step_type, step_name, visit, status, start_time, end_time)
  select ${tenantId}, ${runId}, 'main', 'set', 'set-data', 'Set', n, 'completed', now(), now()
  from generate_series(1, ${count}::int) n`

const entries = (tenantId: string) => database.sql<{ details: object }[]>`
  select details from audit_entries where tenant_id = ${tenantId} and action = 'subject.deleted' order by seq`

/**
 * Prevents transactions from deleting more than 1,000 records, like the limit of a statement.
 * @returns how to undo it
 */
async function makeSlow(): Promise<() => Promise<unknown>> {
  await database.sql.unsafe(`
    create function slow() returns trigger language plpgsql as $$
    declare gone int := coalesce(nullif(current_setting('test.gone', true), '')::int, 0) + 1;
    begin
      perform set_config('test.gone', gone::text, true);
      if gone > 1000 then raise exception 'canceling statement' using errcode = '57014'; end if;
      return old;
    end $$;
    create trigger slow before delete on step_records for each row execute function slow()`)
  return () => database.sql.unsafe('drop trigger slow on step_records; drop function slow')
}

/** Partitions the records by tenant. @returns how to undo it */
async function divideRecords(): Promise<() => Promise<unknown>> {
  await database.sql.unsafe(`
    alter table step_records rename to whole;
    create table step_records (like whole including all) partition by hash (tenant_id);
    create table part_0 partition of step_records for values with (modulus 2, remainder 0);
    create table part_1 partition of step_records for values with (modulus 2, remainder 1);
    alter table step_records add foreign key (tenant_id, run_id) references runs on delete cascade`)
  return () => database.sql.unsafe('drop table step_records; alter table whole rename to step_records')
}

test('a batch that takes too long is deleted in pieces, down to the records of one run', async () => {
  const ctx = await workspace('ten_slow', 20)
  await forge(database.sql, ['run_3', 'run_7', 'run_11', 'run_20'])
  for (const run of ['run_3', 'run_11', 'run_20']) await records('ten_slow', run, 900)
  await records('ten_slow', 'run_7', 2_500)
  const undo = await makeSlow()
  const { deleted, done } = await deleteSubjectData(ctx, { sub: 'eve' })
  await undo()
  expect([deleted.runs, done]).toEqual([20, true])
  expect(await database.sql`select 1 from step_records where tenant_id = 'ten_slow'`).toHaveLength(0)
})

test('where the records are divided into partitions, those at the same place in another one stay', async () => {
  const restore = await divideRecords()
  const undo = await makeSlow()
  const tenants = ['ten_p1', 'ten_p2', 'ten_p3', 'ten_p4', 'ten_p5', 'ten_p6']
  const contexts = []
  for (const tenantId of tenants) {
    contexts.push(await workspace(tenantId, 1))
    await records(tenantId, 'run_1', 1_500)
  }
  const parts = await database.sql`select distinct tableoid from step_records`
  await deleteSubjectData(contexts[0] as (typeof contexts)[0], { sub: 'eve' })
  const left = await database.sql`select tenant_id, count(*)::int as n from step_records group by 1 order by 1`
  await undo()
  await restore()
  expect(parts).toHaveLength(2)
  expect(left.map(({ tenant_id, n }) => [tenant_id, n])).toEqual(tenants.slice(1).map((id) => [id, 1_500]))
})

test('the audit log reports the deletion with the first part of it, and its result', async () => {
  const ctx = await workspace('ten_audit', 3)
  await deleteSubjectData(ctx, { sub: 'nobody' })
  expect(await entries('ten_audit')).toEqual([])
  await database.sql.unsafe(`
    create function breaks() returns trigger language plpgsql as $$ begin raise exception 'power cut'; end $$;
    create trigger breaks before delete on runs for each row execute function breaks()`)
  await expect(deleteSubjectData(ctx, { sub: 'eve' })).rejects.toThrow()
  await database.sql.unsafe('drop trigger breaks on runs; drop function breaks')
  expect(await entries('ten_audit')).toEqual([])
  const { deleted } = await deleteSubjectData(ctx, { sub: 'eve' })
  expect((await entries('ten_audit')).map(({ details }) => details)).toEqual([{}, deleted])
  await deleteSubjectData(ctx, { sub: 'eve' })
  expect(await entries('ten_audit')).toHaveLength(2)
})

test('of a subject with very many runs, one look reads some', async () => {
  const ctx = await workspace('ten_big', BIG)
  expect(await countSubjectData(ctx, { sub: 'eve' })).toMatchObject({ runs: 10_001, openRuns: 0, atLeast: true })
  const { deleted, done } = await deleteSubjectData(ctx, { sub: 'eve' })
  expect(deleted.runs).toBeGreaterThan(1_000)
  expect(done).toBe(deleted.runs === BIG)
}, 120_000)
