import { afterEach, describe, expect, it } from 'vitest'
import { type PoolLimits, ScriptPool } from '@/server/tools/sandbox/pool'
import { countSlots } from '@/server/tools/sandbox/share'
import { Turns } from '@/server/tools/sandbox/turns'

const pools: ScriptPool[] = []

function newPool(limits: Partial<PoolLimits> = {}) {
  const queue = { scripts: 100, chars: 1_000_000 }
  const pool = new ScriptPool({ maxRunning: 2, maxWaiting: 2, maxQueueMs: 60_000, queue, idleMs: 10_000, ...limits })
  pools.push(pool)
  return (tenantId: string, code: string, timeoutMs = 5000) => {
    const request = { code, input: '[1,2,3]', timeoutMs, memoryMb: 64, maxOutputBytes: 1000, maxFetches: 0 }
    return pool.run({ tenantId, request })
  }
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.stop()))
})

describe('tenants that share the script workers', () => {
  it('each find a worker, however many endless loops another tenant has sent', async () => {
    const run = newPool()
    let ended = 0
    const loops = Array.from({ length: 50 }, () =>
      run('ten_a', 'for (;;);', 150).then(
        () => ended++,
        () => {},
      ),
    )
    for (let i = 0; i < 3; i++) expect((await run('ten_b', 'return 7')).ending).toEqual({ ok: true, json: '7' })
    expect(ended).toBeLessThan(40)
    await pools[0]?.stop()
    await Promise.all(loops)
  })

  it('take turns, and each keeps the order of its own scripts', async () => {
    const run = newPool({ maxRunning: 1 })
    const ended: string[] = []
    const sent = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) =>
      run(name.slice(0, 1), 'return 1').then(() => ended.push(name)),
    )
    await Promise.all(sent)
    expect(ended).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  })

  it('lose nothing to a tenant that fills the queue: its own newest scripts are rejected', async () => {
    const run = newPool({ maxRunning: 1, queue: { scripts: 4, chars: 1_000_000 } })
    const flood = Array.from({ length: 8 }, (_, n) => run('ten_a', `return ${n}`))
    const other = run('ten_b', 'return "b"')
    expect((await other).ending).toEqual({ ok: true, json: '"b"' })
    const endings = (await Promise.all(flood)).map(({ ending }) => ending)
    const ran = [0, 1, 2].map((n) => ({ ok: true, json: String(n) }))
    expect(endings).toEqual([...ran, 'busy', 'busy', 'busy', 'busy', 'busy'])
  })
})

describe('the queue', () => {
  it('is limited by the size of its scripts, and the largest tenant gives way', () => {
    const turns = new Turns<{ tenantId: string; chars: number }>({ scripts: 100, chars: 100 })
    const small = { tenantId: 'ten_a', chars: 10 }
    const large = [50, 30, 20].map((chars) => ({ tenantId: 'ten_b', chars }))
    const mine = { tenantId: 'ten_c', chars: 101 }
    const late = { tenantId: 'ten_d', chars: 15 }
    expect(turns.add(small)).toEqual([])
    expect(large.flatMap((job) => turns.add(job))).toEqual([large[2]])
    expect(turns.add(mine)).toEqual([mine])
    expect(turns.add(late)).toEqual([large[1]])
    expect(turns.removeAll()).toEqual([small, large[0], late])
  })
})

describe('slots', () => {
  const limits = { maxRunning: 3, maxWaiting: 4 }
  const at = (tenantId: string, count: number, waiting = false) =>
    Array.from({ length: count }, () => ({ tenantId, waiting }))

  it('are never all held by one tenant', () => {
    const slots = countSlots(at('a', 2), limits)
    expect([slots.freeFor('a'), slots.freeFor('b')]).toEqual([0, 1])
  })

  it('are given up by scripts that wait for a reply, up to half of those that may wait', () => {
    expect(countSlots(at('a', 2, true), limits).freeFor('a')).toBe(2)
    expect(countSlots(at('a', 3, true), limits).freeFor('a')).toBe(1)
    expect(countSlots([...at('a', 4, true), ...at('b', 2, true)], limits).freeFor('b')).toBe(1)
  })

  it('remain for others when replies wake more scripts of a tenant than its share', () => {
    const slots = countSlots(at('a', 4), limits)
    expect([slots.freeFor('a'), slots.freeFor('b')]).toEqual([0, 1])
  })

  it('are limited in total', () => {
    expect(countSlots(at('a', 6), limits).freeFor('b')).toBe(1)
    expect(countSlots(at('a', 7), limits).freeFor('b')).toBe(0)
  })

  it('require no more workers than scripts can run now', () => {
    const slots = countSlots(at('a', 1), limits)
    expect(slots.wanted([['a', 9]])).toBe(1)
    expect(slots.wanted([['b', 9]])).toBe(2)
    expect(
      slots.wanted([
        ['a', 9],
        ['b', 1],
      ]),
    ).toBe(2)
  })
})
