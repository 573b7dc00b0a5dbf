import { beforeAll, describe, expect, it } from 'vitest'
import type { Definition } from '@/server/definition/schema'
import { checkGraph } from '@/server/workflows/check/graph'

beforeAll(() => {
  Object.assign(process.env, { MILLRACE_TEST_STEPS: '1' })
})

const effect = (id: string, body: Record<string, string> = {}) => ({ id, type: 'test-effect', body })

function definition(more: Partial<Definition>): Definition {
  return {
    name: 'C',
    description: '',
    initialStep: 'work',
    steps: [effect('work'), effect('undo'), { id: 'end', type: 'end-flow' }],
    edges: [{ from: 'work', to: 'end' }],
    payload: {},
    ...more,
  }
}
const codes = (checked: Definition) => checkGraph(checked).map(({ code, stepId }) => [code, stepId ?? null])

describe('a cleanup path', () => {
  it('is reachable: its steps are not reported as unreachable, and need no end', () => {
    expect(codes(definition({}))).toContainEqual(['W_UNREACHABLE', 'undo'])
    expect(codes(definition({ onCancel: 'undo' }))).toEqual([])
  })

  it('must start at a step that exists', () => {
    const problems = checkGraph(definition({ onCancel: 'gone' }))
    expect(problems).toContainEqual(
      expect.objectContaining({ severity: 'error', code: 'UNKNOWN_ON_CANCEL', field: 'onCancel' }),
    )
  })

  it('never waits for a person, not even further down', () => {
    const ask = { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } }
    const asking = definition({
      steps: [effect('work'), effect('undo'), ask, { id: 'end', type: 'end-flow' }],
      edges: [
        { from: 'work', to: 'end' },
        { from: 'undo', to: 'ask' },
      ],
      onCancel: 'undo',
    })
    expect(codes(asking)).toContainEqual(['PAUSE_IN_CLEANUP', 'ask'])
  })

  it('may refer to any step’s output, because a cancel may come after any step', () => {
    const steps = [effect('work'), effect('undo', { of: '${anything}' }), { id: 'end', type: 'end-flow' }]
    expect(codes(definition({ steps, onCancel: 'undo' }))).toEqual([])
    expect(codes(definition({ steps }))).toContainEqual(['EXPRESSION_UNRESOLVED', 'undo'])
  })
})
