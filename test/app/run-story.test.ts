import { describe, expect, it, test } from 'vitest'
import { saidWith } from '@/app/(dashboard)/[tenant]/runs/[runId]/said-with'
import { plainText, storyOf } from '@/app/(dashboard)/[tenant]/runs/[runId]/story'

type Told = Parameters<typeof storyOf>[0]

const tess = { id: 'usr_tess', kind: 'user', name: 'Tess' } as const
const at = (minute: number) => `2026-03-01T05:${String(minute).padStart(2, '0')}:00.000Z`

const run = (more: Partial<Told> = {}): Told => ({
  state: 'running',
  startTime: at(0),
  endTime: null,
  answers: [],
  turns: [],
  repeated: [],
  moves: [],
  pauses: [],
  timer: null,
  retrying: null,
  working: [],
  done: 0,
  atFailure: null,
  retry: null,
  error: null,
  cancellation: null,
  cancelling: false,
  cleaningUp: false,
  failing: null,
  ...more,
})
const answer = (more: Partial<Told['answers'][number]> = {}): Told['answers'][number] => ({
  id: 'main:decide#1',
  stepId: 'decide',
  stepName: 'Decide',
  kind: 'request_user_action',
  title: 'Order of AX-210',
  label: 'Approve',
  createdAt: at(1),
  answeredAt: at(31),
  answeredBy: tess,
  answer: { size: 2, value: {} },
  labels: {},
  votes: null,
  remarks: [],
  ended: 'answered',
  undecided: null,
  reminders: [],
  ...more,
})
const pause = (more: Partial<Told['pauses'][number]> = {}): Told['pauses'][number] => ({
  id: 'main:decide#1',
  stepId: 'decide',
  stepName: 'Decide',
  createdAt: at(1),
  dueAt: null,
  people: { assignees: null, votes: null, needs: [], voters: null, bar: null },
  remarks: [],
  reminders: [],
  held: null,
  signal: {
    type: 'request_user_action',
    stepId: 'decide',
    title: 'Order of AX-210',
    actions: [
      { id: 'a', label: 'Approve' },
      { id: 'r', label: 'Reject' },
    ],
  },
  ...more,
})
const story = (more: Partial<Told>) => plainText(storyOf(run(more)))

describe('the story of a run says', () => {
  it('how people voted, whose votes are missing, and that they decided', () => {
    const at = '2026-03-01T05:10:00.000Z'
    const ada = { by: 'usr_1', name: 'Ada', label: 'Approve', value: null, data: null, via: null, at }
    const needs = [
      { label: 'Approve', votes: 2, cast: 1 },
      { label: 'Reject', votes: 1, cast: 0 },
    ]
    const people = {
      assignees: ['Ada', 'Bob', 'anybody with the role admin or higher'],
      votes: [ada],
      needs,
      voters: null,
      bar: null,
    }
    expect(story({ pauses: [pause({ people })] })).toBe(
      'Since 2026-03-01T05:01:00.000Z it has been waiting for Ada, Bob or anybody with the role admin or higher to choose Approve or Reject for Order of AX-210, with no time limit. 1 of 2 chose “Approve”: Ada.',
    )
    expect(story({ answers: [answer({ votes: { cast: 3, names: ['Ada', 'Bob'], filledIn: [] } })] })).toContain(
      '2 of 3 chose “Approve” for Order of AX-210: Ada and Bob.',
    )
  })

  it('who was reminded last, and who got the task then', () => {
    const one = { at: at(20), handed: false, who: ['Ada', 'Bob'], number: 1, times: 2 }
    const handed = { at: at(40), handed: true, who: ['Finance'], number: 2, times: 2 }
    const reminders = [one, { ...one, at: at(30), who: ['Bob'], number: 2 }]
    expect(story({ pauses: [pause({ reminders })] })).toMatch(/limit\. Bob got reminder 2 of 2 at \S+:30:00\.000Z\.$/)
    const handedOver = ' After 2 reminders, it was handed to Finance at 2026-03-01T05:40:00.000Z.'
    expect(story({ pauses: [pause({ reminders: [...reminders, handed] })] })).toMatch(`limit.${handedOver}`)
    expect(story({ answers: [answer({ reminders: [...reminders, handed] })] })).toContain(
      `Tess chose “Approve” for Order of AX-210.${handedOver}`,
    )
    expect(story({ pauses: [pause({ reminders: [{ ...one, who: null }] })] })).toContain(
      'everybody who may answer got reminder 1 of 2',
    )
  })

  it('who moved it between versions, what was asked again, and in which order that happened', () => {
    const move = {
      ...{ at: at(20), by: { id: 'usr_1', kind: 'user', name: 'Ada' } as const, from: 4, to: 5, fromVersion: 7 },
      ...{ afterSeq: 1, askedAgain: ['Approve'], waitsAgain: [], droppedVotes: 0, reason: null },
    }
    expect(story({ answers: [answer()], moves: [move], done: 1 })).toMatch(
      /^Ada moved it from v4 to v5; Approve was asked again\. Tess chose “Approve”/,
    )
    const more = { askedAgain: ['Approve', 'Check'], waitsAgain: ['Paid'], droppedVotes: 2, reason: 'New form.' }
    expect(story({ moves: [{ ...move, ...more }], done: 1 })).toContain(
      'Ada moved it from v4 to v5; Approve and Check were asked again, its wait at Paid changed and 2 votes were dropped: “New form”.',
    )
    const key = { by: { id: 'key_1', kind: 'apiKey', name: 'ci' } as const, askedAgain: [], from: null }
    expect(story({ moves: [{ ...move, ...key }], done: 1 })).toContain('The API key ci moved it from a draft to v5. It')
  })

  it('who decided what, and how much of the time it waited for people', () => {
    expect(story({ state: 'completed', endTime: at(40), answers: [answer()], done: 3 })).toBe(
      'Tess chose “Approve” for Order of AX-210. It completed 3 steps in 40\u00a0m\u00a000\u00a0s, of which it waited 30\u00a0m\u00a000\u00a0s for people.',
    )
  })

  it('the latest three answers, and counts the ones before; questions open at once are waited for once', () => {
    const form = { kind: 'collect_inputs', label: null, title: null } as const
    const told = story({
      state: 'completed',
      endTime: at(59),
      done: 9,
      answers: Array.from({ length: 5 }, () => answer(form)),
    })
    expect(told).toBe(
      '2 earlier answers led here. Tess filled in Decide. Tess filled in Decide. Tess filled in Decide. ' +
        'It completed 9 steps in 59\u00a0m\u00a000\u00a0s, of which it waited 30\u00a0m\u00a000\u00a0s for people.',
    )
  })

  it('which exit it took where there were several', () => {
    const large = { exit: 'large', label: 'Large', toName: 'Ask the manager', at: at(2), error: null }
    const turn = { stepId: 'amount', stepName: 'Amount', ...large }
    expect(story({ turns: [turn], working: [{ stepId: 'ask', stepName: 'Ask' }] })).toBe(
      'Amount took the exit “Large” to Ask the manager. It is at Ask now.',
    )
    const failed = { ...turn, exit: 'error', toName: 'Tell sales', error: 'It answered 404.\nat line 1' }
    expect(story({ turns: [failed], done: 1 })).toContain(
      'Amount failed: “It answered 404”, so the run took its error exit to Tell sales.',
    )
    expect(story({ turns: [{ ...failed, error: `${'x'.repeat(159)}🙂 and more` }] })).toContain(
      `“${'x'.repeat(159)}🙂…”`,
    )
    expect(story({ turns: [{ ...turn, toName: null }], done: 1 })).toContain('“Large”, where the path ended.')
  })

  it('where a decision led, in one sentence with it', () => {
    const led = { exit: 'approve', label: 'Approve', toName: 'Ship it', at: at(31), error: null }
    const turn = { stepId: 'decide', stepName: 'Decide', ...led }
    expect(story({ turns: [turn], answers: [answer()], done: 1 })).toMatch(
      /^Tess chose “Approve” for Order of AX-210, which led to Ship it\. It is about/,
    )
  })

  it('all of it in the order in which it happened, and the next step only once', () => {
    const exit = { exit: 'true', label: 'True', error: null }
    const turns = [
      { stepId: 'k1', stepName: 'More than 1,000?', ...exit, toName: 'More than 10,000?', at: at(1) },
      { stepId: 'k10', stepName: 'More than 10,000?', ...exit, label: 'False', toName: 'Is it urgent?', at: at(2) },
      { stepId: 'decide', stepName: 'Decide', ...exit, toName: 'Approved', at: at(31) },
    ]
    const repeated = [{ stepId: 'pay', stepName: 'Pay', attempts: 3, at: at(40) }]
    expect(story({ state: 'completed', endTime: at(45), answers: [answer()], turns, repeated, done: 6 })).toMatch(
      /^More than 1,000\? took the exit “True”\. More than 10,000\? took the exit “False” to Is it urgent\? Tess chose “Approve” for Order of AX-210, which led to Approved\. Pay succeeded at attempt 3\. It completed/,
    )
  })

  it('what it waits for, since when and until when', () => {
    expect(story({ state: 'paused', pauses: [pause()] })).toBe(
      `Since ${at(1)} it has been waiting for someone to choose Approve or Reject for Order of AX-210, with no time limit.`,
    )
    expect(story({ state: 'paused', pauses: [pause({ dueAt: at(45) }), pause(), pause(), pause()] })).toMatch(
      new RegExp(`for Order of AX-210 until ${at(45)}\\..*It also waits for 2 more answers\\.$`),
    )
    const nothing = { eventName: null, eventKey: null, childRunId: null }
    const sleep = { stepId: 'sleep', stepName: 'Cool off', ...nothing, dueAt: at(50) }
    expect(story({ timer: sleep })).toBe(`It waits at Cool off until ${at(50)} and then continues.`)
    expect(story({ timer: { ...sleep, eventName: 'paid', eventKey: 'A-17' } })).toBe(
      `It waits at Cool off for the event paid with the key A-17 until ${at(50)}.`,
    )
    expect(story({ timer: { ...sleep, eventName: 'paid', dueAt: null } })).toBe(
      'It waits at Cool off for the event paid, with no time limit.',
    )
    expect(story({ timer: { ...sleep, childRunId: 'run_1', dueAt: null } })).toBe(
      'It waits at Cool off for the end of another run.',
    )
  })

  it('that it fails as soon as its failure path has ended', () => {
    const failing = { code: 'HTTP_ERROR', message: 'It answered 404', stepId: 'book', outcome: 'failed' } as const
    expect(story({ failing: { ...failing, stepName: 'Book a room' } })).toBe(
      'It failed at Book a room: “It answered 404”. Its failure path is running.',
    )
    expect(story({ failing: { ...failing, stepId: null, stepName: null } })).toBe(
      'It failed: “It answered 404”. Its failure path is running.',
    )
  })

  it('when the next attempt is due, and which steps needed several', () => {
    const retrying = { stepId: 'crm', stepName: 'Call CRM', attempt: 2, error: '503', nextAt: at(9), log: null }
    expect(story({ retrying, repeated: [{ stepId: 'pay', stepName: 'Pay', attempts: 3, at: at(5) }] })).toBe(
      `Pay succeeded at attempt 3. Attempt 2 at Call CRM failed; the next is due at ${at(9)}.`,
    )
  })

  it('how far a failed run got, and what a retry keeps', () => {
    const retry = { stepId: 'pay', stepName: 'Pay', same: false }
    const failed = {
      state: 'failed',
      endTime: at(1),
      error: { code: 'X', message: 'no', stepId: 'pay' },
      retry,
    } as const
    const path = [
      { stepName: 'Release the stock', status: 'completed' },
      { stepName: 'Tell sales', status: 'failed' },
    ] as const
    const atFailure = (kept: number, ran = 0, others = kept) => ({ others, kept, path: path.slice(0, ran) })
    expect(story({ ...failed, done: 2, atFailure: atFailure(2) })).toBe(
      'It failed after 1\u00a0m\u00a000\u00a0s. A retry would keep 2 steps before that.',
    )
    expect(story({ ...failed, done: 2, atFailure: atFailure(1, 1) })).toBe(
      'It failed after 1\u00a0m\u00a000\u00a0s. A retry would keep one step before that. Then, on its failure path, Release the stock completed.',
    )
    expect(story({ ...failed, done: 1, atFailure: atFailure(0, 2) })).toBe(
      'It failed after 1\u00a0m\u00a000\u00a0s at its first step. Then, on its failure path, Release the stock completed and Tell sales failed.',
    )
    expect(story({ ...failed, done: 2, atFailure: atFailure(0, 0, 2) })).toContain(
      'A retry would begin at its first step.',
    )
    const caused = { ...retry, stepId: 'ask', stepName: 'Is it right?' }
    expect(story({ ...failed, retry: caused, atFailure: atFailure(2) })).toContain(
      'would keep 2 steps before Is it right?',
    )
    expect(story({ ...failed, retry: { ...retry, same: true }, atFailure: atFailure(2) })).not.toContain('retry')
    expect(story(failed)).toBe('It failed after 1\u00a0m\u00a000\u00a0s at its first step, so nothing else ran.')
    expect(story({ ...failed, error: null, done: 1 })).toBe('It failed after 1\u00a0m\u00a000\u00a0s and one step.')
    expect(story({ state: 'timed_out', endTime: at(1), done: 1 })).toContain('reached its time limit')
  })

  it('who stopped it and why, and what became of the cleanup', () => {
    const cancellation = {
      kind: 'cancel' as const,
      reason: 'The customer called.',
      requestedBy: tess,
      requestedAt: at(2),
      cleanup: 'completed' as const,
    }
    expect(story({ state: 'cancelled', endTime: at(3), cancellation, done: 1 })).toBe(
      `Tess cancelled it at ${at(2)}: “The customer called.” Its cleanup path completed. It had completed one step in 3\u00a0m\u00a000\u00a0s.`,
    )
    const under = { ...cancellation, cleanup: null, reason: null }
    expect(story({ cancellation: under, cancelling: true })).toBe(
      `Tess cancelled it at ${at(2)}. A step under way may still finish.`,
    )
  })

  it('that it has not begun, or is between two steps', () => {
    expect(story({})).toBe('It has not begun yet: it waits for its turn.')
    expect(story({ done: 4 })).toBe('It is about to begin its next step.')
  })
})

test('people’s remarks with a decision are quoted, with their names where several decided', () => {
  const remarks = [
    { by: 'usr_1', name: 'Ada', text: 'fine' },
    { by: 'usr_2', name: 'Bob', text: 'too dear' },
  ]
  expect(saidWith(answer())).toBe('')
  expect(saidWith(answer({ remarks: remarks.slice(0, 1) }))).toBe(': “fine”')
  expect(saidWith(answer({ remarks, votes: { cast: 2, names: ['Ada'], filledIn: [] } }))).toBe(
    '; Ada: “fine”; Bob: “too dear”',
  )
})
