import { expect, test } from 'vitest'
import { type Counts, NOTHING, oneFailure, total } from '../support/counts'
import { secondTry } from '../support/second-try'

const passing = { ...NOTHING, passed: 10 }
const failing = (failed: number, again: Counts): Counts => ({
  ...NOTHING,
  passed: 10,
  failed,
  failures: ['a.test.ts > is quick'],
  again: async () => again,
})

test('a test that passes when it runs again counts as passed, and is named', async () => {
  const counts = total(await secondTry([passing, failing(1, { ...NOTHING, passed: 3 })]))
  expect(counts).toMatchObject({ line: '21 passed, 0 failed', failures: [], unstable: ['a.test.ts > is quick'] })
})

test('of two that failed, only the one that fails again stays a failure', async () => {
  const [slow, wrong] = ['a.test.ts > is quick\n  1.2 s', 'a.test.ts > adds\n  expected 2']
  const again = { ...NOTHING, passed: 1, failed: 1, failures: ['a.test.ts > adds\n  expected 2, got 3'] }
  const counts = total(await secondTry([passing, { ...failing(2, again), failures: [slow, wrong] }]))
  expect(counts).toMatchObject({ line: '21 passed, 1 failed', failures: [wrong], unstable: [slow] })
})

test.each([
  ['fails again', failing(1, { ...oneFailure('a.test.ts > is quick'), passed: 3 })],
  ['makes room for another', failing(1, { ...oneFailure('a.test.ts > adds'), passed: 3 })],
  ['is not found again', failing(1, NOTHING)],
  [
    'breaks an invariant',
    { ...failing(1, { ...NOTHING, passed: 3 }), failures: ['a.test.ts > is quick: 1 violations of invariants'] },
  ],
  ['is one of many', failing(13, { ...NOTHING, passed: 3 })],
  ['is no test, such as the types', { ...NOTHING, failed: 1, failures: ['a.test.ts > is quick'] }],
])('a failure that %s stays one', async (_what, counts) => {
  const { failed, failures, unstable } = total(await secondTry([passing, counts]))
  expect({ failed, failures, unstable }).toEqual({
    failed: counts.failed,
    failures: counts.failures,
    unstable: [],
  })
})
