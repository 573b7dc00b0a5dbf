import { expect, test } from 'vitest'
import { pulseText } from '@/app/(dashboard)/[tenant]/_home/pulse-text'
import { RUN_STATES } from '@/server/views/runs/filter'

test('the states that are named add up to all runs', () => {
  const counts = Object.fromEntries(RUN_STATES.map((state, index) => [state, index + 1]))
  const [total = 0, ...named] = (pulseText({ counts, exact: true }).replace('24 hours', '').match(/\d+/g) ?? []).map(
    Number,
  )
  expect(named.reduce((sum, count) => sum + count, 0)).toBe(total)
  expect(total).toBe((RUN_STATES.length * (RUN_STATES.length + 1)) / 2)
})

test('one run, none, and more than are counted', () => {
  expect(pulseText({ counts: { running: 1 }, exact: true })).toBe('1 run in the last 24 hours: 1 running')
  expect(pulseText({ counts: {}, exact: true })).toBe('No runs in the last 24 hours')
  expect(pulseText({ counts: { completed: 10_001 }, exact: false })).toBe('More than 10,000 runs in the last 24 hours')
})
