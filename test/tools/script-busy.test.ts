import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { processWide } from '@/db/process-wide'
import { stepRecords } from '@/db/schema/runs'
import type { ServiceContext } from '@/server/context'
import { respondError } from '@/server/http/respond'
import type { invokeTool as InvokeTool } from '@/server/tools/invoke'
import type { createTool as CreateTool } from '@/server/tools/lifecycle'
import { type PoolLimits, ScriptPool } from '@/server/tools/sandbox/pool'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { PATIENCE } from '../support/patience'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

const shared = processWide<{ pool?: ScriptPool }>('script-pool', () => ({}))

let database: FreshDatabase
let runtime: TestRuntime
let other: ServiceContext
let createTool: typeof CreateTool
let invokeTool: typeof InvokeTool
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32) })
  createTool = (await import('@/server/tools/lifecycle')).createTool
  invokeTool = (await import('@/server/tools/invoke')).invokeTool
  other = await runtime.as('owner', 'ten_other')
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})
afterEach(async () => {
  await shared.pool?.stop()
  delete shared.pool
})

/** This process's pool, with limits that a test can reach. */
function limitPool(limits: Partial<PoolLimits>): ScriptPool {
  const queue = { scripts: 100, chars: 1_000_000 }
  const pool = new ScriptPool({ maxRunning: 2, maxWaiting: 2, maxQueueMs: 60_000, queue, idleMs: 10_000, ...limits })
  shared.pool = pool
  return pool
}

async function script(ctx: ServiceContext, code: string, timeoutMs = 5_000) {
  const { id } = await createTool(ctx, { name: 'Script', kind: 'script', config: { code, timeoutMs } })
  const call = () => invokeTool(ctx, { toolId: id, body: {} }, new AbortController().signal)
  return { id, call }
}

const callStep = (toolId: string, more: object = {}) => ({
  payload: {},
  steps: [{ id: 'call', type: 'call-tool', toolId, saveAs: 'answer', ...more }],
})

describe('fifty endless loops of one tenant', () => {
  test("do not delay another tenant's run", async () => {
    const pool = limitPool({})
    const loop = await script(other, 'for (;;);', 150)
    const mine = await script(runtime.ctx, 'return 6 * 7')
    let ended = 0
    let enough = false
    const codes = new Set<unknown>()
    // Each that ends is followed by another, so there are fifty whenever the run's script starts.
    const keepLooping = async () => {
      while (!enough) {
        const answer = await loop.call().catch(() => null)
        ended++
        if (answer) codes.add(answer.error?.code)
      }
    }
    const loops = Array.from({ length: 50 }, keepLooping)
    try {
      await expect.poll(() => [...codes]).toEqual(['TIMEOUT'])
      /** How many loops ended while the script of the run waited and ran. */
      const meanwhile: number[] = []
      const { run: runScript } = pool
      vi.spyOn(pool, 'run').mockImplementation(async (call) => {
        const before = ended
        const answer = await runScript.call(pool, call)
        if (call.tenantId === runtime.ctx.tenantId) meanwhile.push(ended - before)
        return answer
      })
      const run = await runtime.wait(await runtime.start(callStep(mine.id)))
      expect(run).toMatchObject({ status: 'completed', data: { answer: 42 } })
      expect(meanwhile).toHaveLength(1)
      expect(meanwhile[0]).toBeLessThan(40)
      expect([...codes]).toEqual(['TIMEOUT'])
    } finally {
      enough = true
      await pool.stop()
      await Promise.all(loops)
    }
  })
})

describe('a script for which no worker becomes free', () => {
  /** One worker, and another tenant's script that occupies it until released. */
  async function hold() {
    const pool = limitPool({ maxRunning: 1, maxQueueMs: 300 })
    const holder = new AbortController()
    const run = async (code: string) => {
      const request = { code, input: '[]', timeoutMs: 600_000, memoryMb: 64, maxOutputBytes: 9, maxFetches: 0 }
      return (await pool.run({ tenantId: 'ten_other', request, signal: holder.signal })).ending
    }
    await vi.waitFor(async () => expect(await run('return 1')).not.toBe('busy'), PATIENCE)
    return { pool, held: run('for (;;);'), release: () => holder.abort() }
  }

  test('answers 503 with `retry-after` when it is called directly', async () => {
    const { call } = await script(runtime.ctx, 'return 1')
    const { held, release } = await hold()
    const failure = await call().catch((err: unknown) => err)
    expect(failure).toMatchObject({ code: 'UNAVAILABLE', message: 'No script worker is free. Try again shortly.' })
    const answer = respondError(failure, 'request')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
    release()
    expect(await held).toMatchObject({ message: 'The script was cancelled' })
  })

  test('costs a run no attempt: its step continues when a worker is free, even if it has only one attempt', async () => {
    const { id } = await script(runtime.ctx, 'return 6 * 7')
    const { pool, held, release } = await hold()
    const asked = vi.spyOn(pool, 'run')
    const runId = await runtime.start(callStep(id, { retry: { maxAttempts: 1 } }))
    await expect.poll(() => asked.mock.settledResults.some(({ type }) => type === 'fulfilled')).toBe(true)
    release()
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', data: { answer: 42 } })
    const endings = asked.mock.settledResults.map(({ value }) => value.ending)
    expect(endings[0]).toBe('busy')
    expect(endings.at(-1)).toEqual({ ok: true, json: '42' })
    const [record] = await runtime.db.select().from(stepRecords).where(eq(stepRecords.runId, runId))
    expect(record).toMatchObject({ attempt: 1, attempts: [{ attempt: 1 }] })
    await held
  })
})

test('the wait for a worker does not count in `executionTime`', async () => {
  limitPool({ maxRunning: 1 })
  const loop = await script(other, 'for (;;);', 1_000)
  const { call } = await script(runtime.ctx, 'return 1')
  await call()
  let loopedMs = 0
  const sent = performance.now()
  const first = loop.call().then(() => {
    loopedMs = performance.now() - sent
  })
  await vi.waitFor(() => expect(shared.pool?.size).toBe(2), PATIENCE)
  const asked = performance.now()
  const { success, debug } = await call()
  const tookMs = performance.now() - asked
  await first
  expect(success).toBe(true)
  // The part of the loop's time for which the call had to wait.
  expect(tookMs - debug.executionTime).toBeGreaterThan((loopedMs - (asked - sent)) / 2)
})
