import { afterAll, beforeAll, expect, test } from 'vitest'
import { GET } from '@/app/api/metrics/route'
import { everyMinute, sweepEach } from '@/inngest/functions/sweeps'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { readsDatabase } from '@/server/database'
import { Busy } from '@/server/errors'
import { TakenOver } from '@/server/interpreter/flow/failure'
import { countWork } from '@/server/interpreter/walk/count-work'
import type { RouteHandler } from '@/server/rest/route'
import { type MeasureName, measured } from '@/server/telemetry/measures'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

const TOKEN = 'scrape-me-0123456789'
let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, {
    METRICS_TOKEN: TOKEN,
    MILLRACE_EMBEDDED: '1',
    RATE_LIMIT_FAILURES: '3',
  })
})
afterAll(async () => {
  await runtime?.stop()
  await readsDatabase().close()
  await database?.close()
})

const read = (authorization?: string) =>
  GET(new Request('http://localhost/api/metrics', { headers: authorization ? { authorization } : {} }), {
    params: Promise.resolve({}),
  })

/** Every series with its value. Fails on a line that is not in the format. */
async function scrape(): Promise<Map<string, number>> {
  const response = await read(`Bearer ${TOKEN}`)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const text = await response.text()
  const types = new Map<string, string>()
  const found = new Map<string, number>()
  for (const line of text.split('\n').slice(0, -1)) {
    const [, name = '', kind = ''] = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line) ?? []
    if (kind) types.set(name, kind)
    if (line.startsWith('#')) continue
    const [, series = '', family = '', value] =
      /^((\w+)(?:\{\w+="(?:[^"\\\n]|\\.)*"(?:,\w+="(?:[^"\\\n]|\\.)*")*\})?) (-?[\d.e+-]+)$/.exec(line) ?? []
    expect(series, line).not.toBe('')
    expect(types.has(family.replace(/_(bucket|sum|count)$/, '')) || types.has(family), line).toBe(true)
    expect(found.has(series), line).toBe(false)
    found.set(series, Number(value))
  }
  return found
}

const failing = { steps: [{ id: 'fail', type: 'run-script', code: 'throw new Error("no")' }] }
const asking = { steps: [{ id: 'ask', type: 'request-user-action', actions: [{ id: 'yes', label: 'Yes' }] }] }

test('the work of runs, steps, requests and sweeps is counted, and no label has an id', async () => {
  const { id: keyId, key } = await createApiKey(runtime.ctx, { name: 'K', role: 'owner' })
  const done = await runtime.start({ steps: [{ id: 'set', type: 'set-data', values: { a: 1 } }] })
  const failed = await runtime.start(failing)
  const paused = await runtime.start(asking)
  for (const id of [done, failed]) await runtime.wait(id)
  await runtime.wait(paused, (run) => run.status === 'paused')
  const { GET: status } = await import('@/app/api/workflow/status/[runId]/route')
  const ask = (handler: RouteHandler, runId: string) =>
    handler(new Request(`http://localhost/api/workflow/status/${runId}`, { headers: { 'x-api-key': key } }), {
      params: Promise.resolve({ runId }),
    })
  for (const runId of [done, failed, 'run_nobody']) await ask(status, runId)
  await sweepEach(runtime.db, everyMinute({ ...runtime.ctx, db: runtime.db }), (_name, sweep) => sweep())

  const found = await scrape()
  const of = (series: string) => found.get(series)
  expect(of('millrace_database_up')).toBe(1)
  expect(of('millrace_open_runs{status="paused"}')).toBe(1)
  expect(of('millrace_queue_jobs')).toBeGreaterThanOrEqual(0)
  expect(of('millrace_outbox_oldest_seconds')).toBeGreaterThanOrEqual(0)
  expect(of('millrace_engine_processes')).toBe(1)
  expect(of('millrace_database_connections_max{pool="millrace-reads"}')).toBe(2)
  expect(of('millrace_runs_started_total{via="apiKey"}')).toBe(3)
  expect(of('millrace_runs_ended_total{outcome="succeeded"}')).toBe(1)
  expect(of('millrace_runs_ended_total{outcome="failed"}')).toBe(1)
  expect(of('millrace_step_failures_total{type="run-script",class="EXECUTION_ERROR"}')).toBe(1)
  expect(of('millrace_step_duration_seconds_count{type="run-script",result="failed"}')).toBe(1)
  expect(of('millrace_step_duration_seconds_bucket{type="run-script",result="failed",le="+Inf"}')).toBe(1)
  const route = 'route="/api/workflow/status/[runId]",method="GET"'
  expect(of(`millrace_http_requests_total{${route},status="200"}`)).toBe(2)
  expect(of(`millrace_http_requests_total{${route},status="404"}`)).toBe(1)
  expect(of(`millrace_http_request_duration_seconds_count{${route}}`)).toBe(3)
  // From the database: this may be a process that never sweeps.
  expect(of('millrace_sweep_age_seconds{sweep="runs"}')).toBeLessThan(60)
  const text = [...found.keys()].join('\n')
  for (const secret of [done, failed, paused, keyId, runtime.ctx.tenantId, TOKEN, key])
    expect(text).not.toContain(secret)

  // Nothing is in flight between two statements, even after earlier failures.
  await expect.poll(async () => (await scrape()).get('millrace_database_calls{pool="millrace-reads"}')).toBe(0)
  expect((await scrape()).has('millrace_event_loop_lag_seconds{quantile="0.99"}')).toBe(true)
})

test('only the token opens them, and guessing it is limited', async () => {
  expect((await read()).status).toBe(401)
  expect((await read(`Bearer ${TOKEN.slice(1)}`)).status).toBe(401)
  expect((await read(`Bearer ${TOKEN}x`)).status).toBe(401)
  expect((await read(`Basic ${TOKEN}`)).status).toBe(429)
  expect((await read(`Bearer ${TOKEN}`)).status).toBe(200)
})

test('an attempt that found no slot, or that another process has taken over, does not count as a failure', async () => {
  const failing = (err: Error) => countWork({ type: { type: 'test-slots' } } as never, () => Promise.reject(err))
  for (const err of [new Busy('Full', 100), new TakenOver()]) await expect(failing(err)).rejects.toBe(err)
  const of = (name: MeasureName) =>
    [...measured(name)].filter(({ labels }) => labels.type === 'test-slots').map(({ value }) => value)
  expect(of('millrace_step_failures_total')).toEqual([])
  expect(of('millrace_step_duration_seconds')).toEqual([])
  expect(of('millrace_step_busy_total')).toEqual([1])
})

test('every help text explains its metric', async () => {
  const helps = (await (await read(`Bearer ${TOKEN}`)).text()).match(/^# HELP .*$/gm) ?? []
  expect(helps.length).toBeGreaterThan(20)
  expect(helps.filter((help) => /\b(of them|Of it|oldest of)\b/.test(help))).toEqual([])
  expect(helps.filter((help) => /_seconds\S* /.test(help) && !/ in seconds/.test(help))).toEqual([])
  expect(new Set(helps.map((help) => help.split(' ').slice(3).join(' '))).size).toBe(helps.length)
})

test('for any path that callers write, their requests are counted by the folder of the route', async () => {
  const { GET: redeliver } = await import('@/app/api/webhooks/[webhookId]/deliveries/[deliveryId]/redeliver/route')
  const before = [...measured('millrace_http_requests_total')].length
  for (const [webhookId, deliveryId] of [
    ['%64eliveries', '%72edeliver'],
    ['deliveries', 'redeliver'],
    ['api', 'webhooks'],
  ] as const) {
    const path = `${encodeURIComponent(webhookId)}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`
    const params = Promise.resolve({ webhookId, deliveryId })
    await redeliver(new Request(`http://localhost/api/webhooks/${path}`), { params })
  }
  const series = [...measured('millrace_http_requests_total')].slice(before)
  expect(series).toEqual([
    {
      labels: {
        route: '/api/webhooks/[webhookId]/deliveries/[deliveryId]/redeliver',
        method: 'GET',
        status: '405',
      },
      value: 3,
    },
  ])
})
