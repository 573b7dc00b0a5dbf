import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type PoolLimits, ScriptPool } from '@/server/tools/sandbox/pool'
import { PATIENCE } from '../support/patience'

const pools: ScriptPool[] = []

function newPool(limits: Partial<PoolLimits> = {}) {
  const queue = { scripts: 100, chars: 1_000_000 }
  const pool = new ScriptPool({ maxRunning: 1, maxWaiting: 2, maxQueueMs: 60_000, queue, idleMs: 10_000, ...limits })
  pools.push(pool)
  const run = (code: string, { timeoutMs = 20_000, tenantId = 'ten_a', signal }: Options = {}) => {
    const request = { code, input: '[1,2,3]', timeoutMs, memoryMb: 64, maxOutputBytes: 1000, maxFetches: 0 }
    return pool.run({ tenantId, request, signal })
  }
  return { pool, run }
}
interface Options {
  timeoutMs?: number
  tenantId?: string
  signal?: AbortSignal
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.stop()))
})

describe('the pool of script workers', () => {
  it('runs more scripts than it has workers, in order', async () => {
    const { run } = newPool()
    const ended: number[] = []
    const answers = Array.from({ length: 12 }, async (_, n) => {
      const { ending } = await run(`return ${n}`)
      ended.push(n)
      return ending
    })
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 12 }, (_, n) => ({ ok: true, json: `${n}` })))
    expect(ended).toEqual(Array.from({ length: 12 }, (_, n) => n))
  })

  it('starts a script’s time when the script starts, and reports how long it waited', async () => {
    const { run } = newPool()
    await run('return 1')
    const sent = performance.now()
    let loopedMs = 0
    const first = run('for (;;);', { timeoutMs: 3_000 }).then((answer) => {
      loopedMs = performance.now() - sent
      return answer
    })
    const second = await run('return 1', { timeoutMs: 2_500 })
    expect(second.ending).toEqual({ ok: true, json: '1' })
    expect((await first).ending).toMatchObject({ code: 'TIMEOUT' })
    expect(second.waitedMs).toBeGreaterThan(loopedMs - 100)
    expect((await first).waitedMs).toBeLessThan(second.waitedMs)
  })

  it('reports a script that waited too long as busy, not as timed out, and never runs it', async () => {
    const { run } = newPool({ maxQueueMs: 200 })
    await vi.waitFor(async () => expect((await run('return 1')).ending).toEqual({ ok: true, json: '1' }), PATIENCE)
    const first = run('for (;;);', { timeoutMs: 600 })
    const order: string[] = []
    void first.then(() => order.push('first'))
    const second = await run("console.log('ran'); return 1")
    order.push('second')
    expect(second).toMatchObject({ ending: 'busy', logs: [] })
    expect((await first).ending).toMatchObject({ code: 'TIMEOUT' })
    expect(order).toEqual(['second', 'first'])
  })

  it('removes a waiting script that is cancelled', async () => {
    const { run } = newPool()
    const first = run('for (;;);', { timeoutMs: 300 })
    const second = await run('return 1', { signal: AbortSignal.timeout(50) })
    expect(second.ending).toMatchObject({ message: 'The script was cancelled' })
    await first
    expect((await run('return 2')).ending).toEqual({ ok: true, json: '2' })
  })

  it('replaces a worker that had to be ended', async () => {
    const { pool, run } = newPool()
    await run('return 1')
    await run("return new Array(1e8).join('abc')", { timeoutMs: 400 })
    expect(pool.size).toBeGreaterThan(0)
    expect((await run('return 1')).ending).toEqual({ ok: true, json: '1' })
  })

  it('gives each script its own result while hostile ones run concurrently', async () => {
    const { run } = newPool({ maxRunning: 3 })
    const hostile = [
      'for (;;);',
      "return new Array(1e8).join('abc')",
      'const a = []; for (;;) a.push([a])',
      'return a.b',
    ]
    const answers = Array.from({ length: 16 }, async (_, n) => {
      const bad = run(hostile[n % 4] ?? '', { timeoutMs: 100 })
      const good = await run(`await null; return args + ${n}`)
      expect((await bad).ending).toMatchObject({ ok: false })
      return good.ending
    })
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 16 }, (_, n) => ({ ok: true, json: `${n + 1}` })))
  })

  it('does not keep the process alive, and keeps only one idle worker', async () => {
    const holding = () => process.getActiveResourcesInfo().length
    const before = holding()
    const { pool, run } = newPool({ maxRunning: 3, idleMs: 200 })
    const slow = 'let i = 0; while (i < 1e6) i++'
    const all = [run(slow), run(slow), run(slow)]
    await vi.waitFor(() => expect(pool.size).toBeGreaterThan(1), PATIENCE)
    await Promise.all(all)
    await vi.waitFor(() => expect(holding()).toBeLessThanOrEqual(before), PATIENCE)
    await vi.waitFor(() => expect(pool.size).toBe(1), PATIENCE)
    await sleep(300)
    expect(pool.size).toBe(1)
  })

  it('gives no result of its scripts when it is stopped, and can be used again', async () => {
    const { pool, run } = newPool()
    const answers = Promise.allSettled([run('for (;;);'), run('return 1')])
    await pool.stop()
    for (const answer of await answers) expect(answer).toMatchObject({ reason: { name: 'Stopping' } })
    expect((await run('return args + dataContext + context')).ending).toEqual({ ok: true, json: '6' })
  })
})
