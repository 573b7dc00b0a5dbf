import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { JsonObject } from '@/server/definition/json'
import { PartialData } from '@/server/talk/partial'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The data passed on from these pieces, one every 10 ms, with its times. */
async function partialsOf(pieces: readonly string[]) {
  const all: { data: JsonObject; ms: number }[] = []
  const begun = performance.now()
  const partial = new PartialData((data) => all.push({ data, ms: performance.now() - begun }))
  for (const piece of pieces) {
    partial.add(piece)
    await vi.advanceTimersByTimeAsync(10)
  }
  await vi.advanceTimersByTimeAsync(1_000)
  return { all, partial }
}

test('data is passed on at most every 200 ms, up to the last piece, and only if it has changed', async () => {
  const { all } = await partialsOf(['{"a":"', ...Array.from({ length: 100 }, () => 'x'), '"', ...' '.repeat(100), '}'])
  const times = all.map(({ ms }) => ms)
  expect(Math.min(...times.slice(1).map((ms, index) => ms - (times[index] ?? 0)))).toBeGreaterThanOrEqual(200)
  expect(all.length).toBeGreaterThan(4)
  expect(all.length).toBeLessThan(8)
  expect(all.at(-1)?.data).toEqual({ a: 'x'.repeat(100) })
})

test('beyond 65,536 characters data is passed on only after a quarter more of text', async () => {
  const { all } = await partialsOf(['{"a":"', ...Array.from({ length: 600 }, () => 'x'.repeat(1_000))])
  const lengths = all.map(({ data }) => String(data.a).length + 6).filter((length) => length > 65_536)
  expect(lengths.length).toBeGreaterThan(5)
  for (const [index, length] of lengths.slice(1).entries())
    expect(length).toBeGreaterThanOrEqual((lengths[index] ?? 0) * 1.25)
})

test('nothing is passed on from a text that is no object, nor of one that has ended', async () => {
  expect((await partialsOf(['Let me see. ', '{"a":1}'])).all).toEqual([])
  expect((await partialsOf(['[1', ',2]'])).all).toEqual([])
  const { all, partial } = await partialsOf(['{"a":1'])
  partial.add(',"b":2')
  expect([partial.end(), partial.end()]).toEqual([true, false])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(all.map(({ data }) => data)).toEqual([{ a: 1 }])
})
