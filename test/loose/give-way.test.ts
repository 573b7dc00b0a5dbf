import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { atOnce, type Sliced } from '@/server/definition/sliced'
import { giveWay, inSlices } from '@/server/give-way'
import { held } from '../support/held'

/** Work in this many pieces, none longer than a millisecond. */
function* pieces(count: number): Sliced<number> {
  let sum = 0
  for (let piece = 0; piece < count; piece++) {
    for (let n = 0; n < 50_000; n++) sum = (sum + n * piece) % 1_000_003
    yield
  }
  return sum
}

test('work in slices has the same result as at once, and never holds the event loop for long', async () => {
  const { result, mostMs, allMs } = await held(() => inSlices('a', pieces(600)))
  expect(result).toBe(atOnce(pieces(600)))
  expect(mostMs).toBeLessThan(allMs / 4)
  expect(mostMs).toBeLessThan(100)
})

test('the works of a tenant share the slices: many of them hold the event loop no longer than one', async () => {
  const { mostMs } = await held(() => Promise.all(Array.from({ length: 60 }, () => inSlices('a', pieces(10)))))
  expect(mostMs).toBeLessThan(100)
})

test('a tenant with little work does not wait for one that has much', async () => {
  const ended: string[] = []
  const does = (tenantId: string, count: number) =>
    inSlices(tenantId, pieces(count)).then(() => {
      ended.push(tenantId)
    })
  const much = Array.from({ length: 20 }, () => does('much', 60))
  await Promise.all([does('little', 60), ...much])
  expect(ended.indexOf('little')).toBeLessThan(3)
})

test('an async function gives way as well', async () => {
  const { mostMs } = await held(async () => {
    for (let round = 0; round < 60; round++) {
      atOnce(pieces(5))
      await giveWay('a')
    }
  })
  expect(mostMs).toBeLessThan(100)
})

test('work that comes last pauses after each slice, and goes at once when nothing else has to', async () => {
  let pauses = 0
  const pause = () => (pauses++ < 3 ? sleep(20) : undefined)
  const began = performance.now()
  expect(await inSlices('a', pieces(400), { pause })).toBe(atOnce(pieces(400)))
  expect(pauses).toBeGreaterThan(3)
  expect(performance.now() - began).toBeGreaterThan(60)
})

test('work that takes too long ends with an error that says so, and may end earlier with a part of its result', async () => {
  await expect(inSlices('a', pieces(1_000_000), { ms: 50 })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: [{ message: 'This takes the service too long. Make it smaller, or divide it.' }],
  })
  function* partly(): Sliced<string> {
    for (const _ of Array(100_000)) {
      atOnce(pieces(1))
      if ((yield) > 50) return 'a part'
    }
    return 'all'
  }
  expect(await inSlices('a', partly())).toBe('a part')
})
