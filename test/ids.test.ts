import { expect, test } from 'vitest'
import { newId } from '@/server/ids'

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const numberOf = (id: string) =>
  [...id.slice('run_'.length)].reduce((value, digit) => value * 32n + BigInt(ALPHABET.indexOf(digit)), 0n)

test('ids sort in the order they were made, and contain the time', () => {
  const before = Date.now()
  const ids = Array.from({ length: 5_000 }, () => newId('run'))
  const after = Date.now()
  expect([...ids].sort()).toEqual(ids)
  for (const id of ids) {
    expect(id).toMatch(/^run_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
    expect(Number(numberOf(id) >> 80n)).toBeGreaterThanOrEqual(before)
    expect(Number(numberOf(id) >> 80n)).toBeLessThanOrEqual(after)
  }
})

test('each of the last 64 bits of an id is random', () => {
  const ones = Array.from({ length: 64 }, () => 0)
  for (let made = 0; made < 2_000; made++) {
    const value = numberOf(newId('run'))
    for (let bit = 0; bit < 64; bit++) ones[bit] = (ones[bit] ?? 0) + Number((value >> BigInt(bit)) & 1n)
  }
  // 1,000 each, give or take 22, so this is eight times as far as usual.
  for (const count of ones) expect(Math.abs(count - 1_000)).toBeLessThan(180)
})
