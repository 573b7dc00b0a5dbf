import { openDatabase } from '@/db/index'
import { seedManyRuns } from '@/test/support/seed-runs'
import { type Bench, measureRate } from '../measure'
import type { Millrace } from '../millrace'

const FILTERS = [
  '',
  ...['running', 'paused', 'completed', 'failed'].map((status) => `status=${status}`),
  ...['succeeded', 'failed', 'cancelled', 'terminated', 'timed_out'].map((outcome) => `outcome=${outcome}`),
  'workflowId=wf_many_3',
  'workflowId=wf_many_3&status=failed',
]

/** The status of a run and each filter of the list, with many runs in the database. */
export async function measureReads(bench: Bench, product: Millrace): Promise<void> {
  const tenantId = await product.tenantId()
  const database = openDatabase(product.databaseUrl(), { max: 2, deadlineMs: 120_000 })
  await seedManyRuns(database.sql, tenantId, bench.seeded).finally(database.close)
  const measure = (what: string, path: string) =>
    measureRate(bench, {
      work: 'reads',
      what,
      callers: 1,
      seconds: Math.min(1, bench.seconds),
      once: async () => (await product.ask('GET', path)).ms,
    })
  await measure('status', '/api/workflow/status/run_MANY0000050')
  for (const filter of FILTERS)
    await measure(`list of ${bench.seeded}${filter && `, ${filter}`}`, `/api/workflow/runs?${filter}`)
}
