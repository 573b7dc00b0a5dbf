import { afterAll, beforeAll, expect, test } from 'vitest'
import { readsDatabase } from '@/server/database'
import { sharedFigures } from '@/server/metrics/figures'
import { readMetrics } from '@/server/metrics/read'
import { metricsText } from '@/server/metrics/text'
import { type FreshDatabase, freshDatabase } from '../support/db'

const TOKEN = 'scrape-me-0123456789'
let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
  Object.assign(process.env, { DATABASE_URL: database.url, METRICS_TOKEN: TOKEN, LOG_LEVEL: 'silent' })
})
afterAll(async () => {
  await readsDatabase().close()
  await database?.close()
})

const read = () => readMetrics(new Headers({ authorization: `Bearer ${TOKEN}` }))

test('a database without a workspace has metrics too', async () => {
  await database.sql`delete from tenants`
  expect(await read()).toContain('millrace_open_runs{status="paused"} 0\n')
})

test('a database that does not answer is a figure of its own, and the others are left out', () => {
  const text = metricsText(sharedFigures(null))
  expect(text).toContain('millrace_database_up 0\n')
  expect(text).not.toContain('millrace_queue')
})
