import { afterAll, beforeAll, expect, test } from 'vitest'
import { listenForProbes } from '@/cli/worker-listener'
import { readsDatabase } from '@/server/database'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

const TOKEN = 'scrape-me-0123456789'
let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { METRICS_TOKEN: TOKEN })
})
afterAll(async () => {
  await runtime?.stop()
  await readsDatabase().close()
  await database?.close()
})

test('a worker answers for its health and its metrics, and nothing else', async () => {
  const { port, close } = await listenForProbes(0, undefined)
  const get = (path: string, headers = {}) => fetch(`http://127.0.0.1:${port}${path}`, { headers })
  await expect.poll(async () => (await get('/api/health')).status, { timeout: 20_000 }).toBe(200)
  expect((await get('/api/metrics')).status).toBe(401)
  const metrics = await get('/api/metrics', { authorization: `Bearer ${TOKEN}` })
  expect(await metrics.text()).toContain('millrace_database_up 1\n')
  for (const path of ['/api/workflow/runs', '/api/workflows', '/', '/api/health/x'])
    expect((await get(path)).status).toBe(404)
  await expect(listenForProbes(port, undefined)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  close()
  await expect(get('/api/health')).rejects.toThrow()
})
