import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { type Answer, type Caller, call, TEST_ENV } from '../support/api'
import { freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { installFinality } from '../support/invariants/finality'
import { startWeb, type Web } from '../support/service'
import { expectSound, publishKinds, repeats } from './workload'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** How long a process that was asked to stop continues to serve, while its health directs others elsewhere. */
const DELAY_MS = 4_000
const CREDENTIALS = { tenantId: 'ten_rolling', apiKey: 'sk_rolling_0123456789' }

/** Sends each request to the next process that was healthy when last asked, and never sends one twice. */
function balance() {
  const healthy: Web[] = []
  let next = 0
  let watching = true
  const watch = async (web: Web) => {
    while (watching) {
      const ok = await fetch(`${web.url}/api/health`).then(
        (answer) => answer.ok,
        () => false,
      )
      const at = healthy.indexOf(web)
      if (ok && at < 0) healthy.push(web)
      if (!ok && at >= 0) healthy.splice(at, 1)
      if (!ok) return
      await sleep(50)
    }
  }
  return {
    add(web: Web) {
      healthy.push(web)
      void watch(web)
    },
    caller: (): Caller => healthy[next++ % healthy.length] as Web,
    stop: () => {
      watching = false
    },
  }
}

test('two processes are replaced one after the other under load, and no request fails', {
  timeout: 300_000,
}, async () => {
  const database = await freshDatabase()
  cleanups.push(() => database.close())
  const effects = await startEffects(({ body }) => ({ delayMs: 20, body: { id: body.id } }))
  cleanups.push(() => effects.stop())
  const env = { ...TEST_ENV, STOP_DELAY_MS: String(DELAY_MS) }
  const start = async () => {
    const web = await startWeb({ databaseUrl: database.url, env, ...CREDENTIALS })
    cleanups.push(() => web.stop())
    return web
  }
  const processes = await Promise.all([start(), start()])
  await installFinality(database.sql)
  const balancer = balance()
  for (const web of processes) balancer.add(web)
  cleanups.push(async () => balancer.stop())
  const { caller } = balancer
  const [straight = '', asking = ''] = await publishKinds(caller, effects)

  const bad: unknown[] = []
  let requests = 0
  const send = async (expected: number, method: string, path: string, body?: unknown): Promise<Answer['body']> => {
    const to = caller()
    requests++
    const answer = await call(to, method, path, body).catch((error: Error) => ({
      status: 0,
      body: String(error.cause),
    }))
    if (answer.status === expected) return answer.body
    bad.push({ path, to: to.url, status: answer.status, body: answer.body })
    throw new Error(`a request failed: ${JSON.stringify(bad[0])}`)
  }
  const read = (runId: string) => send(200, 'GET', `/api/workflow/status/${runId}`)
  let going = true
  const client = async () => {
    while (going && bad.length === 0) {
      const done = await send(200, 'POST', `/api/workflow/start/${straight}`, {})
      // I21: another process shows the content of an answer too.
      expect((await read(done.runId)).status).toBe('completed')
      const paused = await send(202, 'POST', `/api/workflow/start/${asking}`, {})
      const { id: pauseId } = paused.pauseSignal
      const answer = { type: 'collect_inputs', pauseId, data: { n: 1 } }
      await send(200, 'POST', `/api/workflow/resume/${paused.runId}`, answer)
      const after = await read(paused.runId)
      expect(after.pauseSignal?.id).not.toBe(pauseId)
      // A stopping process leaves the work after the answer to another one.
      await expect.poll(async () => (await read(paused.runId)).data.n).toBe(1)
    }
  }
  const clients = Promise.all(Array.from({ length: 4 }, client))
  clients.catch(() => {})
  for (const old of processes) {
    const replaced = start()
    old.kill('SIGTERM')
    balancer.add(await replaced)
    expect(await old.exited).toBe(0)
    const seen = requests
    await expect.poll(() => requests > seen + 20 || bad.length > 0, { timeout: 60_000 }).toBe(true)
  }
  going = false
  await clients
  expect(bad).toEqual([])
  expect(requests).toBeGreaterThan(50)
  await expect
    .poll(async () => (await database.sql`select 1 from runs where status = 'running'`).length, { timeout: 60_000 })
    .toBe(0)
  expect([...repeats(effects).keys()]).toEqual([])
  await expectSound(database.sql, effects)
})
