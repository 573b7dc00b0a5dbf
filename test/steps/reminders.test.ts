import { describe, expect, test } from 'vitest'
import { nextReminder } from '@/server/definition/reminder'
import { collectInputs } from '@/server/steps/collect-inputs'
import { parseConfig } from '@/server/steps/config'
import type { AnyStep } from '@/server/steps/define-step'
import { checkGraph } from '@/server/workflows/check/graph'

const actions = [
  { id: 'approve', label: 'Approve' },
  { id: 'reject', label: 'Reject' },
]
const problemsOf = (more: object) =>
  checkGraph({
    ...{ name: 'n', description: '', initialStep: 'boss', payload: {}, edges: [] },
    steps: [{ id: 'boss', type: 'request-user-action', actions, ...more }],
  }).filter(({ code }) => code === 'INVALID_CONFIG' || code === 'W_REMINDERS')

describe('the reminders of a step', () => {
  test('are part of its question, with the time of the first', () => {
    if (collectInputs.mode !== 'pause') throw new Error('collect-inputs must pause')
    const asked = (reminders: object) => {
      const raw = { output: { n: { type: 'number' } }, reminders }
      const config = parseConfig(collectInputs as unknown as AnyStep, raw as never) as never
      return collectInputs.mode === 'pause' && collectInputs.ask({ stepId: 'n', config, data: {}, now: new Date(0) })
    }
    expect(asked({ after: 'PT90M' })).toMatchObject({
      signal: { reminders: { after: 'PT90M', times: 1 } },
      remindAt: new Date('1970-01-01T01:30:00Z'),
    })
    expect(asked({ after: 'P1D', every: 'P1M', handTo: ['user:Ada@x.eu'] })).toMatchObject({
      signal: { reminders: { after: 'P1D', every: 'P1M', times: 3, handTo: ['user:ada@x.eu'] } },
    })
    expect(() => asked({ after: 'tomorrow' })).toThrow()
  })

  test('follow each other by the interval, and the hand-over follows the last', () => {
    const [start, plan] = [new Date(0), { after: 'P1D', every: 'PT2H', times: 2 }]
    expect(nextReminder(plan, 0, start)).toEqual(new Date('1970-01-02T00:00:00Z'))
    expect(nextReminder(plan, 1, start)).toEqual(new Date('1970-01-01T02:00:00Z'))
    expect(nextReminder(plan, 2, start)).toBeNull()
    expect(nextReminder({ ...plan, handTo: [] }, 2, start)).toEqual(new Date('1970-01-01T02:00:00Z'))
    expect(nextReminder({ after: 'P1D', times: 1, handTo: [] }, 1, start)).toEqual(new Date('1970-01-02T00:00:00Z'))
    expect(nextReminder({ ...plan, handTo: [] }, 3, start)).toBeNull()
  })

  test.each<[object, string, string]>([
    [{}, 'reminders.after', 'A value is required'],
    [{ after: 'tomorrow' }, 'reminders.after', 'must be an ISO 8601 duration'],
    [{ after: 'PT30S' }, 'reminders.after', 'must be at least a minute'],
    [{ after: 'P1D', every: 'PT0S' }, 'reminders.every', 'must be at least a minute'],
    [{ after: 'P1D', times: 2 }, 'reminders.times', 'reminders.every must say how often'],
    [{ after: 'P1D', every: 'P1D', times: 31 }, 'reminders.times', 'at most 30'],
    [{ after: 'P1D', handTo: ['ada'] }, 'reminders.handTo[0]', 'must be user:'],
    [{ after: 'P1D', handTo: ['user:a@x', 'user:A@x'] }, 'reminders.handTo', 'names user:a@x twice'],
  ])('%j is a problem of %s', (reminders, field, message) => {
    expect(problemsOf({ reminders })).toMatchObject([
      { severity: 'error', code: 'INVALID_CONFIG', field, message: expect.stringContaining(message) },
    ])
  })

  test.each<[object, string, string]>([
    [{ reminders: { after: 'P2D' }, expiresIn: 'P2D' }, 'reminders', 'are never sent'],
    [{ reminders: { after: 'P1D', every: 'P1D' }, expiresIn: 'P3D' }, 'reminders', 'are 2 rather than 3'],
    [
      { reminders: { after: 'P1D', handTo: ['role:admin'] }, expiresIn: 'P2D' },
      'reminders',
      'never hand the task over',
    ],
    [
      { reminders: { after: 'P1D', handTo: ['user:a@x'] }, needs: { approve: 2 } },
      'reminders.handTo',
      'may be too few to decide, unless others voted before: needs asks for 2 votes for approve',
    ],
  ])('%j gets a warning', (more, field, message) => {
    expect(problemsOf(more)).toMatchObject([
      { severity: 'warning', code: 'W_REMINDERS', field, message: expect.stringContaining(message) },
    ])
  })

  test.each([
    { reminders: { after: 'P1D', every: 'P1D' }, expiresIn: 'P4D' },
    { reminders: { after: 'P1D', handTo: ['role:admin'] }, expiresIn: 'P3D' },
    { reminders: { after: '${_}', every: 'P1D' }, expiresIn: 'P1D' },
    { reminders: { after: 'P2D' }, expiresIn: '${_}' },
    { reminders: { after: 'P1M', every: 'P1M', handTo: '${_}' }, needs: { approve: 9 } },
  ])('%j gets none', (more) => {
    expect(problemsOf(more)).toEqual([])
  })
})
