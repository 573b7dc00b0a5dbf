import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type PoolLimits, ScriptPool } from '@/server/tools/sandbox/pool'

const pools: ScriptPool[] = []

function newPool(limits: Partial<PoolLimits> = {}): ScriptPool {
  const pool = new ScriptPool({ maxRunning: 1, maxWaiting: 2, maxQueueMs: 10_000, idleMs: 10_000, ...limits })
  pools.push(pool)
  return pool
}

function request(code: string, timeoutMs = 2000) {
  return { code, input: '[1,2,3]', timeoutMs, memoryMb: 64, maxOutputBytes: 1000, maxFetches: 0 }
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.stop()))
})

describe('the pool of script workers', () => {
  it('runs more scripts than it has workers, in order', async () => {
    const pool = newPool()
    const ended: number[] = []
    const answers = Array.from({ length: 12 }, async (_, n) => {
      const { ending } = await pool.run(request(`return ${n}`))
      ended.push(n)
      return ending
    })
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 12 }, (_, n) => ({ ok: true, json: `${n}` })))
    expect(ended).toEqual(Array.from({ length: 12 }, (_, n) => n))
  })

  it('does not count the wait against the script', async () => {
    const pool = newPool()
    const first = pool.run(request('for (;;);', 600))
    const second = await pool.run(request('return 1', 300))
    expect(second.ending).toEqual({ ok: true, json: '1' })
    expect((await first).ending).toMatchObject({ code: 'TIMEOUT' })
  })

  it('gives up a script that waited too long', async () => {
    const pool = newPool({ maxQueueMs: 200 })
    await pool.run(request('return 1'))
    const first = pool.run(request('for (;;);', 600))
    const started = performance.now()
    const second = await pool.run(request('return 1'))
    expect(second.ending).toMatchObject({ code: 'TIMEOUT', message: 'No script worker was free' })
    expect(performance.now() - started).toBeLessThan(400)
    expect((await first).ending).toMatchObject({ code: 'TIMEOUT' })
  })

  it('forgets a waiting script that is cancelled', async () => {
    const pool = newPool()
    const first = pool.run(request('for (;;);', 300))
    const second = await pool.run(request('return 1'), AbortSignal.timeout(50))
    expect(second.ending).toMatchObject({ message: 'The script was cancelled' })
    await first
    expect((await pool.run(request('return 2'))).ending).toEqual({ ok: true, json: '2' })
  })

  it('has a worker ready after one was ended', async () => {
    const pool = newPool()
    await pool.run(request('return 1'))
    await pool.run(request("return new Array(1e8).join('abc')", 400))
    const started = performance.now()
    expect((await pool.run(request('return 1'))).ending.ok).toBe(true)
    expect(performance.now() - started).toBeLessThan(250)
  })

  it('gives each its own answer while hostile ones are about', async () => {
    const pool = newPool({ maxRunning: 2 })
    const hostile = [
      'for (;;);',
      "return new Array(1e8).join('abc')",
      'const a = []; for (;;) a.push([a])',
      'return a.b',
    ]
    const answers = Array.from({ length: 16 }, async (_, n) => {
      const bad = pool.run(request(hostile[n % 4] ?? '', 100))
      const good = await pool.run(request(`await null; return args + ${n}`))
      expect((await bad).ending.ok).toBe(false)
      return good.ending
    })
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 16 }, (_, n) => ({ ok: true, json: `${n + 1}` })))
  })

  it('does not keep the process alive, nor idle workers beyond one', async () => {
    const holding = () => process.getActiveResourcesInfo().length
    const before = holding()
    const pool = newPool({ maxRunning: 2, idleMs: 200 })
    const slow = request('let i = 0; while (i < 1e6) i++')
    await Promise.all([pool.run(slow), pool.run(slow), pool.run(slow)])
    expect(pool.size).toBeGreaterThan(1)
    expect(holding()).toBeLessThanOrEqual(before)
    await vi.waitFor(() => expect(pool.size).toBe(1))
    await sleep(300)
    expect(pool.size).toBe(1)
  })

  it('fails what it has when it is stopped, and can be used again', async () => {
    const pool = newPool()
    const answers = [pool.run(request('for (;;);')), pool.run(request('return 1'))]
    await pool.stop()
    for (const { ending } of await Promise.all(answers)) {
      expect(ending).toMatchObject({ code: 'EXECUTION_ERROR', message: 'The script sandbox was shut down' })
    }
    expect((await pool.run(request('return args + dataContext + context'))).ending).toEqual({ ok: true, json: '6' })
  })
})
