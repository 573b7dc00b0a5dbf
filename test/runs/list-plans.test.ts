import { afterAll, beforeAll, expect, test } from 'vitest'
import { explain, readRoots, recorded } from '@/bench/scale/plans'
import type { ServiceContext } from '@/server/context'
import { listRuns } from '@/server/runs/list'
import { findAnything } from '@/server/views/home/find'
import { browseRuns } from '@/server/views/runs/browse'
import { getChanges } from '@/server/views/workflows/changes'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { seedManyRuns } from '../support/seed-runs'
import { newTenant } from '../support/tenant'

/** All runs together take some 500 pages of the index by time. */
const RUNS = 30_000
const MAX_PAGES = 150
/** The runs that failed, each on a page of its own. */
const FAILED = RUNS / 50

let database: FreshDatabase
let ctx: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
  await seedManyRuns(database.sql, ctx.tenantId, RUNS)
  await database.sql`update runs set business_key = 'ORD-' || (input->>'n')`
  await database.sql`vacuum analyze runs`
}, 60_000)
afterAll(() => database.close())

/** How many pages Postgres reads for the statements that find runs. */
async function pagesOf(list: (ctx: ServiceContext) => Promise<unknown>): Promise<number> {
  const { db, sent } = recorded(database.sql)
  await list({ ...ctx, db })
  const roots = await readRoots(database.sql)
  let pages = 0
  for (const one of sent.filter(({ text }) => text.includes('"runs"'))) {
    const { hit, read } = await explain(database.sql, one, roots)
    pages += hit + read
  }
  expect(pages).toBeGreaterThan(0)
  return pages
}

test.each([
  ...['running', 'paused', 'completed', 'failed'].map((status) => ({ status })),
  ...['succeeded', 'failed', 'cancelled', 'terminated', 'timed_out'].map((outcome) => ({ outcome })),
  // None of these failed, and all that failed are another workflow's.
  { workflowId: 'wf_many_3', status: 'failed' },
  { workflowId: 'wf_many_3', outcome: 'timed_out' },
])('the list finds the runs of %o without looking at all others, even if there is none', async (filter) => {
  expect(await pagesOf((own) => listRuns(own, filter))).toBeLessThan(MAX_PAGES)
})

test('the dashboard finds the failed runs of a workflow without looking at those of others', async () => {
  const filter = { states: ['failed', 'timed_out'], workflowIds: ['wf_many_3'] }
  expect(await pagesOf((own) => browseRuns(own, filter))).toBeLessThan(FAILED / 4)
})

test('runs that failed with a code are looked for among those that did not succeed', async () => {
  expect(await pagesOf((own) => browseRuns(own, { code: 'NO_SUCH_CODE' }))).toBeLessThan(FAILED + MAX_PAGES)
})

test.each(['ORD-2999', 'ord-', 'run_MANY00299', 'run_many', 'run_NONE'])(
  'the palette finds what begins with %s by its index',
  async (q) => {
    expect(await pagesOf((own) => findAnything(own, { q }))).toBeLessThan(1_300)
  },
)

test('the publish dialog counts the open runs of a workflow without looking at the others', async () => {
  expect(await pagesOf((own) => getChanges(own, { id: 'wf_many_3' }))).toBeLessThan(MAX_PAGES)
})
