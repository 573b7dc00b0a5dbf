import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readOptions } from '@/bench/options'

test('without options, every work is measured once and no peer', () => {
  expect(readOptions([])).toMatchObject({
    works: ['W0', 'W1', 'W2', 'W3', 'W4', 'W5', 'W7', 'reads'],
    callers: [1, 16, 64],
    peers: false,
    rounds: 1,
  })
})

test('with peers, the works that peers have are measured in three rounds', () => {
  expect(readOptions(['--peers'])).toMatchObject({ works: ['W1', 'W2', 'W3', 'W4', 'W5', 'W7'], rounds: 3 })
})

test('against another build, there are fifteen pairs, and no peers', () => {
  expect(readOptions(['--against', '../other'])).toMatchObject({ against: resolve('../other'), rounds: 15 })
  expect(() => readOptions(['--against', '../other', '--peers'])).toThrow('two different comparisons')
})

test('options replace the defaults', () => {
  const args = ['--peers', '--works', 'w1,W3', '--callers', '1,8', '--rounds', '2', '--seconds', '3', '--markdown']
  expect(readOptions(args)).toMatchObject({
    ...{ works: ['W1', 'W3'], callers: [1, 8], rounds: 2, seconds: 3, markdown: true },
  })
})

test.each([
  [['--works', 'W9'], '--works has no W9'],
  [['--seconds', '0'], '--seconds must be a whole number from 1 to 600'],
  [['--callers', '1,x'], '--callers must be a whole number from 1 to 256'],
  [['--steps', '50'], '--steps must be 100 or 1000'],
  [['--what'], 'Unknown option'],
])('%j is refused with a reason', (args, reason) => {
  expect(() => readOptions(args)).toThrow(reason)
})
