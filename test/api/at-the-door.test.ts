import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, startApi } from '../support/api'

// Starts whose callers wait for the end, of a workspace that may run two concurrently.

let api: Api
let world: Server
let workflowId: string
/** Ends the effects in progress, and those to come until they are held again. */
let release = () => {}
let released: Promise<void>
function hold(): void {
  released = new Promise((resolve) => {
    release = resolve
  })
}
let begun = 0

beforeAll(async () => {
  hold()
  world = createServer(async (request, response) => {
    request.resume()
    begun++
    await released
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => world.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(world.address() as AddressInfo).port}/`
  api = await startApi({ TENANT_CONCURRENCY: '2', QUEUE_LIMIT: '16' })
  const made = await api.call('POST', '/api/workflows', {
    name: 'Slow',
    payload: { n: { type: 'number', required: true } },
    steps: [
      { id: 'effect', type: 'test-effect', url },
      { id: 'end', type: 'end-flow', output: { n: '${n}' } },
    ],
    edges: [{ from: 'effect', to: 'end' }],
  })
  workflowId = made.body.id
  expect((await api.call('POST', `/api/workflows/${workflowId}/publish`, {})).status).toBe(200)
})
afterAll(async () => {
  release()
  await api?.stop()
  world?.close()
})

const start = (n: unknown, signal?: AbortSignal) =>
  api.call('POST', `/api/workflow/start/${workflowId}`, { n }, signal ? { signal } : {})
const runs = async () => {
  const [row] = await api.database.sql<{ n: number }[]>`select count(*)::int as n from runs`
  return row?.n ?? 0
}

test('a run is written once it can begin; a refusal does not wait, and no run is lost whose caller hangs up', async () => {
  const first = [start(1), start(2)]
  await expect.poll(() => begun).toBe(2)
  const caller = new AbortController()
  const hungUp = start(3, caller.signal).catch(() => null)
  const later = [start(4), start(5)]
  const bad = await start('not a number')
  expect([bad.status, bad.body.error.code]).toEqual([400, 'INVALID_INPUT'])
  expect((await api.call('POST', '/api/workflow/start/wf_unknown', { n: 1 })).status).toBe(404)
  expect(await runs()).toBe(2)

  // Half of the queue's limit is this workspace's.
  const more = [6, 7, 8, 9, 10].map((n) => start(n))
  // While there is room, an invalid start gets its own error and takes no place.
  await expect.poll(async () => (await start('not a number')).status).toBe(429)
  expect((await start(11)).status).toBe(429)
  expect((await start(12)).headers.get('retry-after')).toBe('5')
  expect(await runs()).toBe(2)

  caller.abort()
  expect(await hungUp).toBeNull()
  await expect.poll(runs).toBeGreaterThanOrEqual(3)
  release()
  const answers = await Promise.all([...first, ...later, ...more])
  expect(answers.map(({ status, body }) => [status, body.status, body.result?.n])).toEqual(
    [1, 2, 4, 5, 6, 7, 8, 9, 10].map((n) => [200, 'completed', n]),
  )
  await expect
    .poll(() => api.database.sql`select (result->>'n')::int as n from runs where status = 'completed' order by 1`)
    .toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => ({ n })))
})

test('who waits no time gets a run that is queued', async () => {
  const answer = await api.call(
    'POST',
    `/api/workflow/start/${workflowId}`,
    { n: 1 },
    { headers: { prefer: 'wait=0' } },
  )
  expect([200, 202]).toContain(answer.status)
  expect(answer.body.runId).toMatch(/^run_/)
})

test('a start that nobody waits for is written soon, even if no run of the workspace can begin', async () => {
  hold()
  const before = begun
  const busy = [start(1), start(2)]
  await expect.poll(() => begun).toBe(before + 2)
  const written = await runs()
  const later = await Promise.all(
    [3, 4, 5].map((n) => api.call('POST', `/api/workflow/start-async/${workflowId}`, { n })),
  )
  expect(later.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(await runs()).toBe(written + 3)
  expect(begun).toBe(before + 2)
  const bad = await api.call('POST', `/api/workflow/start-async/${workflowId}`, { n: 'not a number' })
  expect([bad.status, bad.body.error.code]).toEqual([400, 'INVALID_INPUT'])
  release()
  for (const { status, body } of await Promise.all(busy)) expect([status, body.status]).toEqual([200, 'completed'])
  const ids = later.map(({ body }) => String(body.runId))
  await expect
    .poll(() => api.database.sql`select count(*)::int as n from runs where id = any(${ids}) and status = 'completed'`)
    .toEqual([{ n: 3 }])
})
