import { describe, expect, test } from 'vitest'
import { waitForEvent } from '@/server/steps/wait-for-event'
import { checkGraph } from '@/server/workflows/check/graph'
import { scopeOf } from '@/server/workflows/check/scope'

if (waitForEvent.mode !== 'pause') throw new Error('a wait must wait')
const { ask, answer } = waitForEvent
const now = new Date('2026-01-01T00:00:00Z')
const asked = (config: object, values = {}) =>
  ask({ stepId: 'w', config: { event: 'paid', ...config }, data: {}, now, values })

describe('wait-for-event', () => {
  test('waits for a name and a key, asks nobody, and by default counts from the start of the run', () => {
    const rules = { since: 'run', when: null, values: {} }
    expect(asked({})).toEqual({ signal: null, event: { name: 'paid', key: null, rules } })
    expect(asked({ key: 17, since: 'step', when: 'true', expiresIn: 'PT2H' }, { a: 1 })).toEqual({
      signal: null,
      event: { name: 'paid', key: '17', rules: { since: 'step', when: 'true', values: { a: 1 } } },
      dueAt: new Date('2026-01-01T02:00:00Z'),
    })
  })

  test('fails with a key that no event can have', () => {
    for (const key of ['', 'x'.repeat(201)]) expect(() => asked({ key })).toThrow('1 to 200 characters')
  })

  test('puts the event into run data only under `saveAs`', () => {
    const event = { id: 'e', name: 'paid', key: null, data: { amount: 1 }, receivedAt: now.toISOString() }
    const config = { event: 'paid' }
    expect(answer({ stepId: 'w', config, answer: { event } })).toEqual({ output: event, delta: {} })
    const saved = answer({ stepId: 'w', config: { ...config, saveAs: 'payment' }, answer: { event } })
    expect(saved.delta).toEqual({ payment: event })
  })
})

describe('the event of a wait', () => {
  const definition = (step: object, output = {}) => ({
    name: 'n',
    description: '',
    initialStep: 'w',
    payload: { total: { type: 'number' as const } },
    steps: [
      { id: 'w', type: 'wait-for-event', event: 'paid', ...step },
      { id: 'end', type: 'end-flow', output },
    ],
    edges: [{ from: 'w', to: 'end' }],
  })
  const problems = (step: object, output?: object) =>
    checkGraph(definition(step, output)).map(({ code, field }) => `${code} ${field}`)

  test('is known in `when` alone, and after the step under `saveAs`', () => {
    expect(
      problems({ when: '${event.data.amount} >= ${total}', saveAs: 'payment' }, { a: '${payment.data.amount}' }),
    ).toEqual([])
    expect(problems({ key: '${event.key}' })).toEqual(['EXPRESSION_UNRESOLVED key'])
    expect(problems({}, { a: '${event.data.amount}' })).toEqual(['EXPRESSION_UNRESOLVED output.a'])
  })

  test('is offered in `when`', () => {
    const entries = scopeOf(definition({ saveAs: 'payment' }), 'w').entries.filter(({ only }) => only === 'when')
    expect(entries.map(({ name }) => name)).toEqual([
      'event',
      'event.id',
      'event.name',
      'event.key',
      'event.data',
      'event.receivedAt',
    ])
    expect(scopeOf(definition({ saveAs: 'payment' }), 'end').entries.map(({ name }) => name)).toContain('payment.data')
  })
})
