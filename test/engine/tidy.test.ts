import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Claim, EngineContext } from '@/inngest/engine/context'
import { Finished } from '@/inngest/engine/finished'
import { type FreshDatabase, freshDatabase } from '../support/db'

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const ROUNDS = 20
const JOBS = 1_000

test('a busy queue uses the space of removed jobs again', async () => {
  const { sql } = database
  // Otherwise Postgres may vacuum it meanwhile.
  await sql`alter table engine.jobs set (autovacuum_enabled = false)`
  let ended = 0
  const unsafe = async (text: string) => {
    await sql.unsafe(text)
    ended++
  }
  const observed = Object.assign((...args: Parameters<typeof sql>) => sql(...args), { unsafe })
  const ctx = { byKey: sql, sql: observed, log: { debug: () => {} } } as unknown as EngineContext
  const finished = new Finished(
    ctx,
    () => {},
    () => true,
  )
  const size = async () => (await sql`select pg_relation_size('engine.jobs')::int as bytes`)[0]?.bytes as number
  const vacuums = async () =>
    (await sql`select vacuum_count::int as n from pg_stat_user_tables where relid = 'engine.jobs'::regclass`)[0]?.n

  const sizes: number[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    const jobs = await sql<{ id: string }[]>`
      insert into engine.jobs (id, run_id, function_id, kind, due_at)
      select 'job_' || n, 'job_' || n, 'app-walk', 'run', now()
      from generate_series(${round * JOBS}::int, ${round * JOBS + JOBS - 1}::int) n returning id`
    const before = await vacuums()
    for (const { id } of jobs) finished.add({ jobId: id, generation: '0' } as Claim)
    await finished.settled()
    // Every second round begins a vacuum. The space is free once that has ended, unless another session reads
    // meanwhile: Postgres preserves what the oldest transaction of any database could see.
    if (round % 2 === 0) {
      await expect.poll(() => ended).toBe(round / 2)
      await expect.poll(vacuums).toBe(before + 1)
    }
    sizes.push(await size())
  }
  const [row] = await sql`select count(*)::int as left from engine.jobs`
  expect(row?.left).toBe(0)
  const afterTwo = sizes[1] ?? 0
  expect(afterTwo).toBeGreaterThan(0)
  expect(sizes.at(-1)).toBeLessThanOrEqual(afterTwo * 3)
})
