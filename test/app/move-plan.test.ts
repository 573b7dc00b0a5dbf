import { expect, test } from 'vitest'
import {
  type CheckedRun,
  chosenOf,
  leftText,
  planOf,
  questionGroups,
  reasonGroups,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/versions/move-plan'
import { ADVICE, MOVE_REASONS, type MoveReasonCode } from '@/server/runs/moves/reasons'

const reason = (code: MoveReasonCode, message = `It is ${code}.`) => ({ code, message, advice: ADVICE[code] })
const run = (runId: string, more: Partial<CheckedRun> = {}): CheckedRun => ({
  ...{ runId, businessKey: null, workflowVersion: 1, status: 'paused', stepId: 'ask' },
  ...{ verdict: 'safe', reasons: [], changes: [] },
  ...more,
})
const never = (runId: string, ...codes: MoveReasonCode[]) =>
  run(runId, { verdict: 'not_possible', reasons: codes.map((code) => reason(code)) })

const all = [
  run('safe'),
  run('asks', { verdict: 'asks_again', changes: [{ stepId: 'ask', what: ['title'] }] }),
  never('votes', 'VOTES_LOST'),
  never('votes-busy', 'BUSY', 'VOTES_LOST'),
  run('busy', { verdict: 'not_now', reasons: [reason('BUSY')] }),
  never('gone', 'STEP_GONE'),
  never('gone-votes', 'VOTES_LOST', 'STEP_GONE'),
]

test('a plan moves what is safe or busy, and more only as far as it was chosen', () => {
  const plan = planOf(all)
  const of = (asksAgain: boolean, dropVotes: boolean) => chosenOf(plan, { asksAgain, dropVotes })
  expect(of(false, false)).toEqual(['safe', 'busy'])
  expect(of(false, true)).toEqual(['safe', 'busy'])
  expect(of(true, false)).toEqual(['safe', 'asks', 'busy'])
  expect(of(true, true)).toEqual(['safe', 'asks', 'votes', 'votes-busy', 'busy'])
  expect(plan.never.map(({ runId }) => runId)).toEqual(['gone', 'gone-votes'])
})

test('runs are grouped by all their reasons, each with a title and advice', () => {
  const groups = reasonGroups([never('a', 'STEP_GONE'), never('b', 'TIME_UP'), never('c', 'TIME_UP'), run('none')])
  expect(groups.map(({ runIds }) => runIds)).toEqual([['b', 'c'], ['a']])
  expect(groups[1]).toMatchObject({ messages: ['It is STEP_GONE.'], advice: [ADVICE.STEP_GONE] })
  for (const code of MOVE_REASONS) expect(reasonGroups([never('a', code)])[0]?.title).toMatch(/^[A-Z].*[a-z]$/)
})

test('questions are grouped by version and step, with all that differs', () => {
  const asks = (runId: string, what: CheckedRun['changes'][number]['what']) =>
    run(runId, { verdict: 'asks_again', changes: [{ stepId: 'ask', what }] })
  expect(questionGroups([asks('a', ['title']), asks('b', ['title', 'fields']), run('c')])).toEqual([
    { version: 1, stepId: 'ask', what: ['title', 'fields'], count: 2 },
  ])
})

test('what a call left is said for each kind that has no reasons', () => {
  expect(
    leftText([
      { runId: 'a', code: 'RUN_ALREADY_ENDED', reasons: [] },
      { runId: 'b', code: 'RUN_ALREADY_ENDED', reasons: [] },
      { runId: 'c', code: 'RUN_NOT_FOUND', reasons: [] },
      { runId: 'd', code: 'MOVE_REFUSED', verdict: 'asks_again', reasons: [], changes: [] },
      { runId: 'e', code: 'MOVE_REFUSED', verdict: 'not_now', reasons: [reason('BUSY')], changes: [] },
    ]),
  ).toEqual([
    '2 runs ended before the move.',
    '1 run was deleted.',
    '1 run came to a task that would be asked again, and stayed.',
  ])
})
