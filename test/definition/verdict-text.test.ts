import { expect, test } from 'vitest'
import type { Verdict } from '@/server/definition/verdict'
import { callsText, countsText, verdictText } from '@/server/definition/verdict-text'

const words = {
  step: (id: string) => ({ check: 'Check amount', pay: 'Pay' })[id] ?? id,
  exit: (_: string, exit: string) => exit.toUpperCase(),
}
const at = { branch: 'main', stepId: 'check', visit: 1 }
const calls = { new: [], gone: [], changed: [] }
const rest = { calls, assumed: [] }

const SAID: [string, Verdict][] = [
  ['The same way to the same result', { is: 'same', ...rest }],
  ['The same result, but other calls', { is: 'same', ...rest, calls: { ...calls, new: ['pay'] } }],
  ['The same way, but another result: total, the whole value', { is: 'result', fields: ['total', ''], ...rest }],
  [
    'At Check amount, FALSE to the end becomes TRUE to Pay',
    { is: 'way', at, was: { exit: 'false', next: null }, now: { exit: 'true', next: 'pay' }, ...rest },
  ],
  [
    'After Check amount, Pay comes instead of the end',
    { is: 'way', at, was: { exit: null, next: null }, now: { exit: null, next: 'pay' }, ...rest },
  ],
  ['Fails at Pay: No (STEP_FAILED)', { is: 'fails', at: 'pay', code: 'STEP_FAILED', message: 'No', ...rest }],
  ['Gets past Pay, and completes', { is: 'passes', at: 'pay', onward: 'ends', ...rest }],
  [
    'The recorded run did not come to Check amount, so its result is unknown',
    { is: 'untold', needs: { why: 'never called', place: at }, ...rest },
  ],
]

test.each(SAID)('a verdict reads: %s', (text, verdict) => {
  expect(verdictText(verdict, words)).toBe(text)
})

test('calls are listed by what becomes of them', () => {
  const changed: Verdict = { is: 'same', assumed: [], calls: { new: ['pay', 'mail'], gone: ['check'], changed: ['x'] } }
  expect(callsText(changed, words)).toEqual([
    'Calls in addition: Pay, mail',
    'Calls no longer: Check amount',
    'Calls with other arguments: x',
  ])
})

test('many verdicts read as one paragraph, in which each run is counted once', () => {
  const judged = SAID.map(([, verdict], nth) => ({ runId: `run_${nth}`, startTime: '', verdict }))
  expect(countsText(judged)).toBe(
    '1 goes the same way to the same result. 1 has the same result with other calls. 1 has another result. 2 go another way. 1 gets past its failure. 1 would fail. 1 has an open outcome.',
  )
})
