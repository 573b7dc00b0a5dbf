import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { createTool as CreateTool } from '@/server/tools/lifecycle'
import { type Outside, type Seen, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
let outside: Outside
let createTool: typeof CreateTool
let respond: (seen: Seen, response: ServerResponse) => void
beforeAll(async () => {
  database = await freshDatabase()
  outside = await startOutside((seen, response) => respond(seen, response))
  const settings = { ENCRYPTION_KEY: 'ab'.repeat(32), ALLOW_PRIVATE_HOSTS: `127.0.0.1:${outside.port}` }
  runtime = await startTestRuntime(database.url, settings)
  createTool = (await import('@/server/tools/lifecycle')).createTool
})
afterAll(async () => {
  await runtime.stop()
  await outside.stop()
  await database.close()
})
afterEach(() => {
  outside.seen.length = 0
})

async function run(config: object) {
  const base = { url: `${outside.url}/orders`, method: 'POST', body: { id: '${args.id}' } }
  const tool = await createTool(runtime.ctx, { name: 'Order', kind: 'http', config: { ...base, ...config } })
  const retry = { maxAttempts: 3, initialDelayMs: 10, backoff: 'fixed' }
  const step = { id: 'order', type: 'call-tool', toolId: tool.id, args: { id: '${id}' }, saveAs: 'answer', retry }
  const payload = { id: { type: 'integer' } }
  return runtime.wait(await runtime.start({ payload, steps: [step] }, { id: 7 }))
}

test('a run retries a call that failed temporarily, with the same key and the same body', async () => {
  respond = (_seen, response) => {
    if (outside.seen.length < 3) response.writeHead(503).end()
    else response.end('{"done":true}')
  }
  const ended = await run({})
  expect(ended).toMatchObject({ status: 'completed', data: { answer: { done: true } } })
  expect(outside.seen).toHaveLength(3)
  expect(new Set(outside.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  expect(outside.seen[0]?.headers['idempotency-key']).toContain(ended.runId)
  expect(new Set(outside.seen.map(({ body }) => body))).toEqual(new Set(['{"id":7}']))
})

test('a call that keeps failing fails with the error of the last attempt', async () => {
  respond = (_seen, response) => void response.writeHead(429, { 'retry-after': '0' }).end()
  const ended = await run({})
  expect(ended).toMatchObject({
    status: 'failed',
    error: { code: 'HTTP_ERROR', message: 'The server answered 429 Too Many Requests.', stepId: 'order' },
  })
  expect(outside.seen).toHaveLength(3)
})

test('a call that fails permanently fails at once', async () => {
  respond = (_seen, response) => void response.writeHead(404).end()
  expect(await run({})).toMatchObject({ status: 'failed', error: { code: 'HTTP_ERROR' } })
  expect(outside.seen).toHaveLength(1)
  expect(await run({ headers: { a: '${secrets.NONE}' } })).toMatchObject({ error: { code: 'SECRET_MISSING' } })
  expect(outside.seen).toHaveLength(1)
})
