import { expect, test } from 'vitest'
import { healedBy, repeating } from '@/app/(dashboard)/[tenant]/runs/heal-verdicts'
import type { Verdict } from '@/server/definition/verdict'

const place = { branch: 'main', stepId: 'sum', visit: 1 }
const NOTHING = { calls: { new: [], gone: [], changed: [] }, assumed: [] }
const verdicts: Verdict[] = [
  { is: 'passes', at: 'sum', onward: 'ends', ...NOTHING },
  { is: 'passes', at: 'sum', onward: 'unknown', ...NOTHING },
  { is: 'passes', at: 'sum', onward: 'fails', ...NOTHING },
  { is: 'fails', at: 'sum', code: 'X', message: 'x', ...NOTHING },
  { is: 'untold', needs: { why: 'same call', place }, ...NOTHING },
  { is: 'untold', needs: { why: 'new call', place }, ...NOTHING },
  { is: 'untold', needs: { why: 'too large' }, ...NOTHING },
]
const judged = (all: Verdict[]) => all.map((verdict, at) => ({ runId: `run_${at}`, startTime: '', verdict }))

test('only runs that get past the step, and do not fail later, are retried; those that a call decides may be', () => {
  const { passes, unsure, lines } = healedBy(judged(verdicts), 'Add up')
  expect([passes, unsure]).toEqual([
    ['run_0', 'run_1'],
    ['run_5', 'run_4'],
  ])
  expect(lines).toEqual([
    '2 of 7 runs get past Add up.',
    '1 goes on to the end.',
    '1 goes on to a call or a question that no run has had.',
    '1 fails at a later step.',
    '1 fails there again.',
    '1 would make the failed call with other arguments: only a retry shows its result.',
    '1 would make the same call again: the draft changes nothing about it.',
    '1 has an open outcome.',
  ])
  expect(healedBy(judged(verdicts.slice(0, 1)), 'Add up').lines).toEqual([
    '1 of 1 run gets past Add up.',
    '1 goes on to the end.',
  ])
})

test('only runs whose every reason is a repeated call may be retried with it', () => {
  const detail = (code: string, stepId: string) => ({ code, stepId, message: 'x' })
  const refused = [
    { runId: 'run_1', code: 'VERSION_MISFIT' as const, message: 'x', details: [detail('CALL_REPEATED', 'pay')] },
    {
      ...{ runId: 'run_2', code: 'VERSION_MISFIT' as const, message: 'x' },
      details: [detail('CALL_REPEATED', 'pay'), detail('DATA_MISFIT', 'sum')],
    },
    { runId: 'run_3', code: 'CONFLICT' as const, message: 'x' },
    {
      ...{ runId: 'run_4', code: 'VERSION_MISFIT' as const, message: 'x' },
      details: [detail('CALL_REPEATED', 'mail'), detail('CALL_REPEATED', 'pay')],
    },
  ]
  expect(repeating(refused)).toEqual({ runIds: ['run_1', 'run_4'], stepIds: ['pay', 'mail'] })
})
