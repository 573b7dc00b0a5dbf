import { expect, test } from 'vitest'
import { pulseText } from '@/app/(dashboard)/[tenant]/_home/pulse-text'
import type { RunState } from '@/server/views/runs/filter'

test('the states that are named add up to all runs', () => {
  const counts: Record<RunState, number> = {
    ...{ running: 1, paused: 2, completed: 4, failed: 8 },
    ...{ timed_out: 16, cancelled: 32, terminated: 64 },
  }
  expect(pulseText({ counts, exact: true })).toBe(
    '127 runs in the last 24 hours: 4 completed, 1 running, 2 waiting, 24 failed, 32 cancelled, 64 terminated',
  )
})

test('one run, none, and more than are counted', () => {
  expect(pulseText({ counts: { running: 1 }, exact: true })).toBe('1 run in the last 24 hours: 1 running')
  expect(pulseText({ counts: {}, exact: true })).toBe('No runs in the last 24 hours')
  expect(pulseText({ counts: { completed: 10_001 }, exact: false })).toBe('More than 10,000 runs in the last 24 hours')
})
