import { describe, expect, test } from 'vitest'
import { nearestName } from '@/server/definition/nearest'
import type { Definition } from '@/server/definition/schema'
import { atOnce } from '@/server/definition/sliced'
import { readReference } from '@/server/definition/template'
import { flowOf } from '@/server/workflows/check/flow'
import { checkGraph } from '@/server/workflows/check/graph'
import { checkReferences as checking, scopeOf } from '@/server/workflows/check/scope'
import { counted } from '../support/work'

/** ask → (left | right) → end. No step type branches yet, so the two paths come from edges alone. */
const branching: Definition = {
  name: 'n',
  description: '',
  initialStep: 'ask',
  payload: { who: { type: 'string', description: 'The customer' }, note: { type: 'string', required: false } },
  steps: [
    {
      id: 'ask',
      type: 'collect-inputs',
      output: { amount: { type: 'number' }, tip: { type: 'number', required: false } },
    },
    { id: 'left', type: 'collect-inputs', output: { reason: { type: 'string' }, both: { type: 'string' } } },
    { id: 'right', type: 'collect-inputs', output: { both: { type: 'number' } } },
    { id: 'end', type: 'end-flow', output: {} },
    { id: 'lost', type: 'end-flow' },
  ],
  edges: [
    { from: 'ask', to: 'left', case: 'l' },
    { from: 'ask', to: 'right', case: 'r' },
    { from: 'left', to: 'end' },
    { from: 'right', to: 'end' },
  ],
}
const ending = (output: Record<string, string>): Definition => ({
  ...branching,
  steps: branching.steps.map((step) => (step.id === 'end' ? { ...step, output } : step)),
})
const checkReferences = (definition: Definition) => atOnce(checking(definition, flowOf(definition)))
const entry = (stepId: string, name: string, definition = branching) =>
  scopeOf(definition, stepId).entries.find((found) => found.name === name)

describe('scopeOf', () => {
  test('contains START fields, results of earlier steps, and all run data, but nothing from later steps', () => {
    expect(scopeOf(branching, 'left').entries.map(({ name, maybe }) => `${name}${maybe ? '?' : ''}`)).toEqual([
      'fileId?',
      'who',
      'note?',
      'ask',
      'ask.amount',
      'ask.tip?',
      'amount',
      'tip?',
      '_',
    ])
    expect(entry('left', 'who')).toEqual({
      name: 'who',
      type: 'string',
      description: 'The customer',
      from: 'start',
      stepId: null,
      maybe: false,
    })
    expect(entry('left', 'amount')).toMatchObject({ type: 'number', from: 'step', stepId: 'ask' })
  })

  test('marks fields of only some paths as possibly missing, but not fields of every path, whichever step writes them', () => {
    expect(entry('end', 'reason')).toMatchObject({ maybe: true, stepId: 'left' })
    expect(entry('end', 'both')).toMatchObject({ maybe: false, type: 'any' })
    expect(entry('end', 'amount')).toMatchObject({ maybe: false })
    expect(entry('end', 'left')).toMatchObject({ maybe: true })
  })

  test('ignores steps that no run reaches', () => {
    const edges = [...branching.edges, { from: 'lost', to: 'left' }]
    expect(entry('left', 'amount', { ...branching, edges })).toMatchObject({ maybe: false })
  })

  test('on a cleanup path allows everything, and is certain only of START and of the path itself', () => {
    const steps = [...branching.steps, { id: 'undo', type: 'collect-inputs', output: { done: { type: 'string' } } }]
    const cleanup = { ...branching, steps, edges: [...branching.edges, { from: 'undo', to: 'lost' }], onCancel: 'undo' }
    expect(entry('lost', 'amount', cleanup)).toMatchObject({ maybe: true })
    expect(entry('lost', 'who', cleanup)).toMatchObject({ maybe: false })
    expect(entry('lost', 'done', cleanup)).toMatchObject({ maybe: false })
  })

  test('exists even for a draft with a cycle or unknown steps', () => {
    const edges = [...branching.edges, { from: 'end', to: 'ask' }, { from: 'ghost', to: 'end' }]
    expect(entry('ask', 'reason', { ...branching, edges })).toMatchObject({ maybe: true })
    expect(entry('end', 'amount', { ...branching, edges })).toMatchObject({ maybe: false })
    expect(entry('ghost', 'who')).toMatchObject({ maybe: false })
  })

  test('offers steps and properties of any name in the notation that refers to them', () => {
    const steps = [
      { id: '7f3c-ü.1', type: 'set-data', values: { constructor: 1, 'x-1': 2 }, saveAs: 'kept' },
      { id: 'end', type: 'end-flow', output: {} },
    ]
    const odd = { ...branching, initialStep: '7f3c-ü.1', steps, edges: [{ from: '7f3c-ü.1', to: 'end' }] }
    const names = scopeOf(odd, 'end').entries.map(({ name }) => name)
    expect(names).toContain('["7f3c-ü.1"]')
    expect(names).not.toContain('kept.constructor')
    for (const name of names) expect(() => readReference(name)).not.toThrow()
  })

  test('says when an earlier step may give any name', () => {
    const steps = branching.steps.map((step) =>
      step.id === 'left' ? { id: 'left', type: 'call-tool', toolId: 't' } : step,
    )
    expect(scopeOf({ ...branching, steps }, 'end').open).toBe(true)
    expect(scopeOf({ ...branching, steps }, 'right').open).toBe(false)
  })
})

describe('checkReferences', () => {
  const told = (output: Record<string, string>) =>
    checkReferences(ending(output)).map(({ severity, code, field }) => [severity, code, field])

  test('warns about values that only some paths give, unless there is a fallback', () => {
    expect(told({ x: '${reason}' })).toEqual([['warning', 'W_REF_MAYBE', 'output.x']])
    expect(told({ x: '${note} ${note}' })).toEqual([['warning', 'W_REF_MAYBE', 'output.x']])
    expect(told({ x: '${reason ?? "none"} ${both} ${amount} ${who} ${_}' })).toEqual([])
    expect(checkReferences(ending({ x: '${reason}' }))[0]?.message).toContain('not every path gives left')
  })

  test('suggests the intended name for a probable typo', () => {
    const [problem] = checkReferences(ending({ x: '${amuont.total}' }))
    expect(problem).toMatchObject({ code: 'EXPRESSION_UNRESOLVED', suggestion: 'amount' })
    expect(problem?.message).toMatch(/is named amuont\. Did you mean \$\{amount\}\?$/)
    expect(checkReferences(ending({ x: '${zebra}' }))[0]).not.toHaveProperty('suggestion')
  })
})

test('nearestName allows one typo per three letters', () => {
  expect(nearestName('adress', ['address', 'amount'])).toBe('address')
  expect(nearestName('Amount', ['amount'])).toBe('amount')
  expect(nearestName('ab', ['xy'])).toBeNull()
  expect(nearestName('orderid', ['order', 'orderId'])).toBe('orderId')
})

test('a check does about as much for each step, however many there are', () => {
  const [few, many] = [inLine(100), inLine(400)]
  expect(checkGraph(many).filter(({ severity }) => severity === 'error')).toEqual([])
  const work = { few: readsOf(few), many: readsOf(many) }
  // Searching all others from each step would be 16 times as much.
  expect(work.many).toBeLessThan(5 * work.few)
})

function readsOf(definition: Definition): number {
  const { value, reads } = counted(definition)
  checkGraph(value)
  checkReferences(value)
  return reads()
}

/** Steps that follow each other, and read what the first one and the one before wrote. */
function inLine(count: number): Definition {
  const steps = Array.from({ length: count }, (_, i) => ({
    id: `s${i}`,
    type: 'collect-inputs',
    output: { [`f${i}`]: { type: 'string' } },
    message: i === 0 ? 'x' : `\${f${i - 1}} \${f0}`,
  }))
  const edges = steps.slice(1).map((step, i) => ({ from: `s${i}`, to: step.id }))
  return { ...branching, initialStep: 's0', steps, edges }
}
