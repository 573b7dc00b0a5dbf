import { describe, expect, test } from 'vitest'
import { parseConfig } from '@/server/steps/config'
import type { AnyStep } from '@/server/steps/define-step'
import { requestUserAction } from '@/server/steps/request-user-action'
import { checkGraph } from '@/server/workflows/check/graph'

if (requestUserAction.mode !== 'pause') throw new Error('request-user-action must pause')
const { ask, answer, check } = requestUserAction
const actions = [
  { id: 'approve', label: 'Approve' },
  { id: 'reject', label: 'Reject' },
]
const config = (raw: object) => parseConfig(requestUserAction as unknown as AnyStep, raw as never) as never

const problemsOf = (more: object) =>
  checkGraph({
    ...{ name: 'n', description: '', initialStep: 'boss', payload: {}, edges: [] },
    steps: [{ id: 'boss', type: 'request-user-action', actions, ...more }],
  }).filter(({ severity }) => severity === 'error')

describe('request-user-action', () => {
  test('pauses with the documented descriptor', () => {
    expect(
      ask({ stepId: 'boss', config: config({ actions, message: 'May we?' }), data: {}, now: new Date(0) }),
    ).toEqual({
      signal: { type: 'request_user_action', stepId: 'boss', actions, message: 'May we?' },
    })
  })

  test('shows a title that resolved to another type as text', () => {
    expect(ask({ stepId: 'boss', config: config({ actions, title: 12.5 }), data: {}, now: new Date(0) })).toMatchObject(
      {
        signal: { title: '12.5' },
      },
    )
  })

  test('shows the card that its author chose, in order; a value that is too large says so', () => {
    const show = [
      { label: 'Total', value: 12.5 },
      { label: 'Summary', value: 'A **good** one', markdown: true },
      { label: 'Plain', value: 'A **good** one', markdown: false },
      { label: 'Items', value: [{ sku: 'a' }], markdown: true },
      { label: 'Scan', value: 'x'.repeat(50_001) },
    ]
    expect(ask({ stepId: 'boss', config: config({ actions, show }), data: {}, now: new Date(0) })).toMatchObject({
      signal: {
        show: [
          { label: 'Total', value: 12.5 },
          { label: 'Summary', value: 'A **good** one', markdown: true },
          { label: 'Plain', value: 'A **good** one' },
          { label: 'Items', value: [{ sku: 'a' }] },
          { label: 'Scan', value: 'Too large to show here' },
        ],
      },
    })
    const { signal } = ask({ stepId: 'boss', config: config({ actions, show: [] }), data: {}, now: new Date(0) }) as {
      signal: object
    }
    expect(Object.keys(signal)).toEqual(['type', 'stepId', 'actions'])
  })

  test('stores the choice under the step id, and under saveAs too', () => {
    const chosen = { actionId: 'approve', actionValue: 'approved' }
    expect(answer({ stepId: 'boss', config: config({ actions }), answer: chosen })).toEqual({
      output: chosen,
      delta: { boss: chosen },
      exit: 'approve',
    })
    expect(answer({ stepId: 'boss', config: config({ actions, saveAs: 'verdict' }), answer: chosen }).delta).toEqual({
      boss: chosen,
      verdict: chosen,
    })
  })

  test('a decision has the fields of its action, and later steps know their types', () => {
    const withFields = [
      { id: 'approve', label: 'Approve', fields: { limit: { type: 'integer' }, note: { type: 'string' } } },
      { id: 'reject', label: 'Reject', fields: { note: { type: 'number' } } },
    ]
    const read = config({ actions: withFields, remark: 'required' })
    expect(requestUserAction.defines?.(read, 'boss').output?.properties).toMatchObject({
      limit: { type: 'integer', optional: true },
      note: { type: 'any' },
      remark: { type: 'string' },
    })
    const given = { actionId: 'approve', actionValue: 'approve', data: { limit: 5, note: 'x' }, remark: 'fine' }
    expect(answer({ stepId: 'boss', config: read, answer: given }).delta).toEqual({
      boss: { limit: 5, note: 'x', actionId: 'approve', actionValue: 'approve', remark: 'fine' },
    })
    const using = (when: string) =>
      checkGraph({
        ...{ name: 'n', description: '', initialStep: 'boss', payload: {} },
        steps: [
          { id: 'boss', type: 'request-user-action', actions: withFields, remark: 'optional' },
          { id: 'if', type: 'condition', when },
        ],
        edges: [{ from: 'boss', to: 'if' }],
      }).flatMap(({ severity, code }) => (severity === 'error' ? [code] : []))
    expect(using('${boss.limit} > 1 && ${boss.remark} == "x"')).toEqual([])
    expect(using('${boss.limit.deep} > 1')).toEqual(['EXPRESSION_UNRESOLVED'])
    expect(using('${boss.nothing} > 1')).toEqual(['EXPRESSION_UNRESOLVED'])
    expect(using('${boss.remark} > 1')).toEqual(['TYPE_MISMATCH'])
  })

  test('says who is asked, how many votes decide, and when it is due', () => {
    const more = {
      assignees: ['user:Ada@x.eu', 'role:admin'],
      needs: { approve: 2 },
      noSelfApproval: true,
      dueIn: 'P1D',
    }
    expect(ask({ stepId: 'boss', config: config({ actions, ...more }), data: {}, now: new Date(0) })).toMatchObject({
      signal: {
        assignees: ['user:ada@x.eu', 'role:admin'],
        needs: { approve: 2 },
        noSelfApproval: true,
        dueAt: '1970-01-02T00:00:00.000Z',
      },
    })
    const votes = [{ by: 'usr_1', name: 'Ada', actionId: 'approve' }]
    const given = { actionId: 'approve', actionValue: 'approve', votes }
    expect(answer({ stepId: 'boss', config: config({ actions, ...more }), answer: given }).output).toEqual(given)
  })

  test.each<[object, string, string]>([
    [{ assignees: [] }, 'assignees', 'needs at least one person, group or role'],
    [{ assignees: ['ada@x.eu'] }, 'assignees[0]', 'must be user:<email, subject or id>, group:<name> or role:<role>'],
    [{ assignees: ['role:boss'] }, 'assignees[0]', 'must be user:<email, subject or id>, group:<name> or role:<role>'],
    [{ assignees: ['user:'] }, 'assignees[0]', 'must be user:<email, subject or id>, group:<name> or role:<role>'],
    [{ assignees: ['group: '] }, 'assignees[0]', 'must be user:<email, subject or id>, group:<name> or role:<role>'],
    [{ assignees: [`group:${'x'.repeat(61)}`] }, 'assignees[0]', 'must be user:<email'],
    [{ assignees: ['group:Ops', 'group:ops'] }, 'assignees', 'names group:ops twice'],
    [{ assignees: 'role:admin' }, 'assignees', 'must be a list'],
    [{ assignees: ['user:a@x', 'user:A@x'] }, 'assignees', 'names user:a@x twice'],
    [{ needs: { approved: 2 } }, 'needs', 'names the action approved, which the step does not have'],
    [{ needs: { approve: 0 } }, 'needs.approve', 'must be at least 1'],
    [{ needs: { approve: 3 }, assignees: ['user:a', 'user:b'] }, 'needs', '3 votes for approve, but only 2 people'],
    [{ needs: { approve: 2, reject: 2 }, assignees: ['user:a', 'user:b'] }, 'needs', 'nothing is ever decided'],
    [{ dueIn: 'tomorrow' }, 'dueIn', 'must be an ISO 8601 duration'],
    [{ remark: 'perhaps' }, 'remark', 'must be one of'],
    [{ actions: [{ id: 'a', label: 'A', fields: { votes: { type: 'array' } } }] }, 'actions', 'the field votes for a'],
    [
      { actions: [{ id: 'a', label: 'A', fields: { b: { type: 'date' } } }] },
      'actions[0].fields.b.type',
      'must be one',
    ],
  ])('%j is a problem of %s', (more, field, message) => {
    expect(problemsOf(more)).toMatchObject([
      { code: 'INVALID_CONFIG', field, message: expect.stringContaining(message) },
    ])
  })

  test('an action may have a name that every object has', () => {
    for (const id of ['toString', 'constructor', 'valueOf', 'hasOwnProperty'])
      expect(
        problemsOf({ actions: [{ id }, { id: 'b' }], needs: { b: 2 }, assignees: ['user:x', 'user:y'] }),
        id,
      ).toEqual(
        problemsOf({ actions: [{ id: 'accept' }, { id: 'b' }], needs: { b: 2 }, assignees: ['user:x', 'user:y'] }),
      )
  })

  test.each([
    { needs: { approve: 3 }, assignees: ['user:a', 'user:b', 'role:admin'] },
    { needs: { approve: 3 }, assignees: ['user:a', 'group:b'] },
    { needs: { approve: 3 }, assignees: ['user:a', 'user:${_}'] },
    { needs: { approve: 3 }, assignees: '${_}' },
    { needs: { approve: 2, reject: 1 }, assignees: ['user:a', 'user:b'] },
    // The votes may be split when the time is up.
    { needs: { approve: 2, reject: 2 }, assignees: ['user:a', 'user:b'], expiresIn: 'P3D' },
  ])('%j is none', (more) => {
    expect(problemsOf(more)).toEqual([])
  })

  test('reports a problem if there is no action, or two have the same id', () => {
    expect(() => config({ actions: [] })).toThrow('at least one action')
    expect(check?.(config({ actions: [actions[0], actions[0]] }))).toHaveLength(1)
  })
})
