import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

const VALUE = 'sk-planted-value-4711'

let database: FreshDatabase
let runtime: TestRuntime
let outside: Outside
let status = 200
beforeAll(async () => {
  database = await freshDatabase()
  outside = await startOutside((seen, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ seen: { url: seen.url, method: seen.method, headers: seen.headers, body: seen.body } }),
    )
  })
  runtime = await startTestRuntime(database.url, {
    ALLOW_PRIVATE_HOSTS: '127.0.0.1',
    ENCRYPTION_KEY: 'ab'.repeat(32),
  })
  const { setVaultSecret } = await import('@/server/vault/set')
  await setVaultSecret(runtime.ctx, { name: 'TOKEN', value: VALUE, hosts: [`127.0.0.1:${new URL(outside.url).port}`] })
})
beforeEach(() => {
  status = 200
})
afterAll(async () => {
  await runtime.stop()
  await outside.stop()
  await database.close()
})

const call = (config: object) => ({ id: 'call', type: 'http-request', saveAs: 'answer', ...config })

describe('http-request', () => {
  test('fills in its address, headers, query and body, and gives the response', async () => {
    const step = call({
      method: 'POST',
      url: `${outside.url}/orders/\${order.id}`,
      headers: { 'x-who': '${order.who}' },
      query: { tag: '${tags}' },
      body: { n: '${order.n}', first: '${tags[0]}' },
      path: 'seen',
    })
    const payload = { order: { type: 'object' }, tags: { type: 'array' } }
    const data = { order: { id: 'a/b', who: 'Ada', n: 3, rest: 'x' }, tags: ['t', 'u'] }
    const run = await runtime.wait(await runtime.start({ payload, steps: [step] }, data))
    expect(run).toMatchObject({ status: 'completed', outcome: 'succeeded' })
    const seen = (run.data as { answer: { url: string; body: string; headers: Record<string, string> } }).answer
    expect(seen).toMatchObject({ method: 'POST', url: '/orders/a%2Fb?tag=t&tag=u', headers: { 'x-who': 'Ada' } })
    expect(JSON.parse(seen.body)).toEqual({ n: 3, first: 't' })
    expect(seen.headers['idempotency-key']).toBe(`${run.runId}:main:call:1`)
    expect(run.stepExecutionHistory[0]?.inputData).toMatchObject({ method: 'POST', body: { n: 3, first: 't' } })
  })

  test('sends a secret that is stored nowhere, and expands none that a value names', async () => {
    const step = call({
      method: 'POST',
      url: `${outside.url}/`,
      headers: { authorization: 'Bearer ${secrets.TOKEN}' },
      body: { text: '${text}' },
    })
    const text = 'give me ${secrets.TOKEN}'
    const before = outside.seen.length
    const run = await runtime.wait(
      await runtime.start({ payload: { text: { type: 'string' } }, steps: [step] }, { text }),
    )
    expect(run).toMatchObject({ status: 'completed' })
    const [seen] = outside.seen.slice(before)
    expect(seen?.headers.authorization).toBe(`Bearer ${VALUE}`)
    expect(JSON.parse(seen?.body ?? '')).toEqual({ text })
    expect(run.stepExecutionHistory[0]?.inputData).toMatchObject({
      headers: { authorization: 'Bearer ${secrets.TOKEN}' },
    })
    const rows = await database.sql`select row_to_json(s)::text as row from step_records s where run_id = ${run.runId}`
    expect(JSON.stringify(rows)).not.toContain(VALUE)
  })

  test('a secret goes only to its host, at publish and in a run', async () => {
    const { createWorkflow, publishWorkflow } = await import('@/server/workflows/lifecycle')
    const step = call({ url: 'https://elsewhere.example/', headers: { authorization: '${secrets.TOKEN}' } })
    const { id } = await createWorkflow(runtime.ctx, { name: 'Leak', steps: [step] })
    await expect(publishWorkflow(runtime.ctx, { id })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      details: [{ code: 'SECRET_NOT_ALLOWED', stepId: 'call', field: 'url' }],
    })
    const listed = call({ method: 'POST', url: `${outside.url}/`, body: [{ token: '${secrets.TOKEN}' }] })
    const fine = await createWorkflow(runtime.ctx, { name: 'List', steps: [listed] })
    await publishWorkflow(runtime.ctx, { id: fine.id })
    const anywhere = call({ url: '${where}', headers: { authorization: '${secrets.TOKEN}' } })
    const open = await createWorkflow(runtime.ctx, {
      name: 'Open',
      payload: { where: { type: 'string' } },
      steps: [anywhere],
    })
    await expect(publishWorkflow(runtime.ctx, { id: open.id })).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
  })

  test('is retried after temporary failures only', async () => {
    status = 503
    const quick = { retry: { maxAttempts: 2, initialDelayMs: 20, backoff: 'fixed' } }
    const before = outside.seen.length
    const run = await runtime.wait(await runtime.start({ steps: [call({ url: `${outside.url}/`, ...quick })] }))
    expect(run).toMatchObject({ status: 'failed', error: { code: 'HTTP_ERROR' } })
    expect(outside.seen.length - before).toBe(2)
    status = 404
    const final = await runtime.wait(await runtime.start({ steps: [call({ url: `${outside.url}/`, ...quick })] }))
    expect(final.stepExecutionHistory[0]).toMatchObject({ status: 'failed', attempt: 1 })
  })

  test('values that make the request too large fail before anything is sent', async () => {
    const body = { all: Array(100).fill('${text}') }
    const before = outside.seen.length
    const step = call({ method: 'POST', url: `${outside.url}/`, body })
    const data = { text: 'x'.repeat(100_000) }
    const run = await runtime.wait(await runtime.start({ payload: { text: { type: 'string' } }, steps: [step] }, data))
    expect(run).toMatchObject({ status: 'failed', error: { code: 'CONFIG_TOO_LARGE' } })
    expect(outside.seen.length).toBe(before)
  })
})
