import { expect, test } from 'vitest'
import { coalesceReads } from '@/lib/coalesce-reads'

test('reads of one moment under the same key are one, and a later one reads again', async () => {
  const reads = new Map<string, Promise<number>>()
  let sent = 0
  const read = (key: string) => coalesceReads(reads, key, async () => ++sent)
  expect(await Promise.all([read('a'), read('a'), read('b')])).toEqual([1, 1, 2])
  expect(await read('a')).toBe(3)
})

test('a read is sent after everyone who shares it has asked', async () => {
  const reads = new Map<string, Promise<string>>()
  let stored = 'old'
  const first = coalesceReads(reads, 'a', async () => stored)
  await Promise.resolve()
  stored = 'new'
  expect(await Promise.all([first, coalesceReads(reads, 'a', async () => stored)])).toEqual(['new', 'new'])
})

test('a read that fails fails for those who shared it, and not for the next', async () => {
  const reads = new Map<string, Promise<number>>()
  const fail = () => coalesceReads(reads, 'a', () => Promise.reject(new Error('lost')))
  const results = await Promise.allSettled([fail(), fail()])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await coalesceReads(reads, 'a', async () => 1)).toBe(1)
})
