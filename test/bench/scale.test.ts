import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Measured, measureRank } from '@/bench/scale/measure'
import { readScaleOptions } from '@/bench/scale/options'
import { seed, timeOfId } from '@/bench/scale/seed'
import { table } from '@/bench/scale/table'
import { newId } from '@/server/ids'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { forge } from '../support/invariants/finality'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

const SIZE = { runs: 6_000, tenants: 20, months: 3, buckets: 4, minutes: 5 }

/** Now, or the end of last month in a month's first week: its partitions would hold too few runs for an index to pay. */
function seededUntil(now: Date): Date {
  return now.getUTCDate() > 7 ? now : new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1) - 1)
}

let database: FreshDatabase
let runtime: TestRuntime
const measured: Measured[] = []
beforeAll(async () => {
  database = await freshDatabase()
  await seed(database.sql, SIZE, seededUntil(new Date()), () => {})
  // As in an older database: runs that stalled, which the sweep restarts.
  await database.sql`
    delete from pauses where answered_at is null and run_id in (
      select run_id from walks where status = 'resting' and scope is null order by run_id limit 2)`
  await database.sql`
    update walks w set status = 'walking', updated_at = now() - interval '1 hour' where status = 'resting' and not exists (
      select from pauses p where p.tenant_id = w.tenant_id and p.run_id = w.run_id and p.answered_at is null)`
  await measureRank({ sql: database.sql, url: database.url }, 1, (one) => measured.push(one))
  await database.sql`delete from outbox`
  runtime = await startTestRuntime(database.url, { MILLRACE_EMBEDDED: '1' })
  await forge(
    database.sql,
    (await database.sql<{ id: string }[]>`select id from runs`).map(({ id }) => id),
  )
}, 180_000)
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

test('the first letters of an id are the time at which it was made', () => {
  // Ids never go back in time, and later ones may already exist.
  const at = Date.now() + 60_000
  expect(newId('run', at).slice(0, 14)).toBe(`run_${timeOfId(at)}`)
})

test('the seeded data fits: as many runs as requested, each in the partition of its month and its workspace', async () => {
  const [found] = await database.sql<{ runs: number; parts: number; wrong: number }[]>`
    select count(*)::int as runs, count(distinct tableoid)::int as parts,
      (count(*) filter (where right(tableoid::regclass::text, 9) not like to_char(start_time at time zone 'UTC', 'YYYY_MM') || '%'))::int as wrong
    from runs`
  expect(found?.runs).toBeGreaterThan(SIZE.runs * 0.98)
  expect(found).toMatchObject({ parts: SIZE.months * SIZE.buckets, wrong: 0 })
  const orphans = await database.sql`
    select 1 from pauses p where not exists (select 1 from runs r where r.tenant_id = p.tenant_id and r.id = p.run_id)`
  expect(orphans).toHaveLength(0)
})

test('every query is answered, and reads of one workspace’s runs read only the partitions it is in', () => {
  expect(measured.filter(({ warm }) => warm === null)).toEqual([])
  const bucketsOf = (one: Measured) =>
    new Set(one.plans.flatMap(({ tables }) => tables.flatMap((name) => /_\d{4}_\d\d_(\d+)$/.exec(name)?.[1] ?? [])))
  const ofOne = measured.filter(({ room }) => room !== 'service')
  expect(ofOne.length).toBeGreaterThan(60)
  expect(ofOne.filter((one) => bucketsOf(one).size > 1).map(({ what }) => what)).toEqual([])
  expect(table(measured)).toContain('| list: all |')
})

test('the runs of tasks, and those that a sweep repairs, are looked up one by one, regardless of other runs', () => {
  const few = measured.filter(({ room, what }) => room === 'inbox' || what === 'repairs of the sweep')
  expect(few.length).toBeGreaterThan(12)
  const whole = few.flatMap(({ what, plans }) =>
    plans.flatMap(({ scans }) => scans.filter((scan) => scan.what === 'Seq Scan runs').map(() => what)),
  )
  expect([...new Set(whole)]).toEqual([])
})

test('on divided tables, runs start, wait, are answered, stopped and deleted', async () => {
  const { resumeRun } = await import('@/server/runs/resume')
  const { cancelRun } = await import('@/server/runs/cancel')
  const { deleteSubjectData } = await import('@/server/subjects/delete')
  const steps = [
    { id: 'ask', type: 'request-user-action', title: 'Go on?', actions: [{ id: 'yes', label: 'Yes' }] },
    { id: 'set', type: 'set-data', values: { done: 'yes' } },
  ]
  const definition = { steps, edges: [{ from: 'ask', to: 'set' }] }
  const [first, second] = [await runtime.start(definition), await runtime.start(definition)]
  for (const id of [first, second]) await runtime.wait(id, ({ status }) => status === 'paused')
  const body = { type: 'request_user_action', actionId: 'yes', actionValue: 'yes' }
  await resumeRun(runtime.ctx, { runId: first, body } as never)
  expect(await runtime.wait(first)).toMatchObject({ outcome: 'succeeded', data: { done: 'yes' } })
  await cancelRun(runtime.ctx, { runId: second })
  expect(await runtime.wait(second)).toMatchObject({ outcome: 'cancelled' })
  const { tenantId } = measured[0] as Measured
  const owner = await runtime.as('owner', tenantId)
  expect(await deleteSubjectData(owner, { sub: 'user_7', terminateRuns: 'true' })).toMatchObject({ done: true })
  const left =
    await database.sql`select 1 from runs where tenant_id = ${tenantId} and started_via = 'jwt' and started_by = 'user_7'`
  expect(left).toHaveLength(0)
})

test('options are checked', () => {
  expect(readScaleOptions([])).toMatchObject({ runs: 100_000, tenants: 1_000, months: 13, buckets: 8, cold: false })
  expect(() => readScaleOptions(['--runs', '10'])).toThrow('--runs must be a whole number from 1000 to 100000000.')
  expect(() => readScaleOptions(['--buckets', '65'])).toThrow('--buckets must be a whole number from 0 to 64.')
})
