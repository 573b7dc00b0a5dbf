import { expect, test } from 'vitest'
import { fixOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/fixes'
import {
  fieldLabel,
  inWords,
  NEITHER_OR_BOTH,
  problemUnderField,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/model/problem-words'
import { keyProblems } from '@/server/definition/business-key'
import type { Definition } from '@/server/definition/schema'
import { checkGraph } from '@/server/workflows/check/graph'
import type { Problem } from '@/server/workflows/check/problem'
import { alone, aside, branches, catalog, decision, end, step, told, workflow } from './fix-drafts'

const DRAFTS: [string, Definition][] = [
  ['EXPRESSION_UNRESOLVED', workflow({ steps: [end({ in: ['is ${amuont}', { deep: '${amuont} ${amount}' }] })] })],
  [
    'EXPRESSION_UNRESOLVED',
    workflow({
      initialStep: '7f3c-a',
      steps: [{ id: '7f3c-a', type: 'set-data', values: { x: 1 } }, end({ in: '${["7f3d-a"].x} ${ ["7f3d-a"] }' })],
      edges: [{ from: '7f3c-a', to: 'end' }],
    }),
  ],
  [
    'EXPRESSION_UNRESOLVED',
    workflow({
      initialStep: '7f3c-a',
      steps: [
        { id: '7f3c-a', type: 'set-data', values: { inner: { 'unit price': 1 } }, saveAs: 'out' },
        end({ in: '${out.inner["unit prize"]} ${["out"].inner["unit prize"] ?? 1}' }),
      ],
      edges: [{ from: '7f3c-a', to: 'end' }],
    }),
  ],
  ['W_REF_MAYBE', workflow({ steps: [end({ text: 'a ${note} b ${ note }', list: ['${note}'] })] })],
  ['NO_INITIAL_STEP', workflow({ initialStep: null })],
  ['UNKNOWN_INITIAL_STEP', workflow({ initialStep: 'gone' })],
  ['UNKNOWN_ON_CANCEL', workflow({ onCancel: 'gone' })],
  ['UNKNOWN_ON_FAILURE', workflow({ onFailure: 'gone' })],
  [
    'DANGLING_EDGE',
    workflow({
      initialStep: 'ask',
      steps: [step, end({})],
      edges: [
        { from: 'ask', to: 'end' },
        { from: 'ask', to: 'gone' },
      ],
    }),
  ],
  [
    'UNKNOWN_EXIT',
    workflow({
      initialStep: 'ask',
      steps: [step, end({})],
      edges: [
        { from: 'ask', to: 'end' },
        { from: 'ask', to: 'end', on: 'no' },
      ],
    }),
  ],
  [
    'AMBIGUOUS_EDGES',
    workflow({
      initialStep: 'ask',
      steps: [step, end({})],
      edges: [
        { from: 'ask', to: 'end' },
        { from: 'ask', to: 'end' },
      ],
    }),
  ],
  ['W_NO_END', workflow({ initialStep: 'ask', steps: [step], edges: [] })],
  ['EXPRESSION_UNRESOLVED', workflow({ steps: [end({ in: '${customerNumber} ${customerNumber}' })] })],
  ['UNKNOWN_STEP_TYPE', workflow({ steps: [{ id: 'end', type: 'end-flo', output: {} }] })],
  ['W_UNREACHABLE', workflow({ steps: [end({}), step, end({})].slice(0, 2), edges: [{ from: 'ask', to: 'end' }] })],
  [
    'W_EMPTY_BRANCH',
    workflow({
      initialStep: 'all',
      steps: [{ id: 'all', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] }, step, end({})],
      edges: [
        { from: 'all', to: 'ask', on: 'a' },
        { from: 'all', to: 'end', on: 'done' },
      ],
    }),
  ],
  [
    'REGION_ENTERED',
    workflow({
      initialStep: 'first',
      steps: [
        { ...step, id: 'first' },
        { id: 'all', type: 'parallel', branches: [{ id: 'a' }] },
        { id: 'in', type: 'collect-inputs', output: { y: { type: 'string' } } },
        end({}),
      ],
      edges: [
        { from: 'first', to: 'all' },
        { from: 'first', to: 'in', on: 'timeout' },
        { from: 'all', to: 'in', on: 'a' },
        { from: 'all', to: 'end', on: 'done' },
      ],
    }),
  ],
  [
    'INVALID_CONFIG',
    workflow({
      initialStep: 'ok',
      steps: [
        {
          ...{ id: 'ok', type: 'request-user-action', actions: [{ id: 'yes', label: 'Yes' }] },
          ...{ needs: { gone: 2 }, assignees: ['user:a@x', 'user:A@x', 'role:admin'] },
        },
        end({}),
      ],
      edges: [{ from: 'ok', to: 'end' }],
    }),
  ],
  [
    'EXPRESSION_UNRESOLVED',
    workflow({
      initialStep: 'ask',
      steps: [step, end({ in: ['${ask.xy} ${ ask.xy ?? "" }', '${ask.x}'] })],
      edges: [{ from: 'ask', to: 'end' }],
    }),
  ],
  [
    'W_REF_NEVER',
    workflow({
      initialStep: 'ask',
      steps: [step, { id: 'set', type: 'set-data', compute: { y: '${ask.xy} + "!"' } }, end({})],
      edges: [
        { from: 'ask', to: 'set' },
        { from: 'set', to: 'end' },
        { from: 'set', to: 'end', on: 'error' },
      ],
    }),
  ],
  ['BRANCH_CONFLICT', branches({ id: 'second', type: 'collect-inputs', output: { x: { type: 'string' } } })],
  ['BRANCH_CONFLICT', branches({ id: 'second', type: 'condition', when: 'true', saveAs: 'x' })],
  ['W_BRANCH_OPEN', branches({ id: 'second', type: 'call-tool', toolId: 't', args: {} })],
  ['INVALID_CONFIG', alone({ ...step, assignees: [] })],
  ['INVALID_CONFIG', alone({ ...step, output: {} })],
  ['INVALID_CONFIG', alone({ ...step, saveAs: 'my résult' })],
  ['INVALID_CONFIG', alone({ ...step, saveAs: '_' })],
  ['INVALID_CONFIG', alone({ ...step, saveAs: '' })],
  ['PAUSE_IN_CLEANUP', aside([], [{ from: 'ask', to: 'tidy' }])],
  [
    'FORK_IN_CLEANUP',
    aside(
      [
        { id: 'all', type: 'for-each', items: [1] },
        { id: 'in', type: 'set-data', values: { a: 1 } },
      ],
      [
        { from: 'all', to: 'in', on: 'each' },
        { from: 'all', to: 'tidy', on: 'done' },
      ],
    ),
  ],
  ['TYPE_MISMATCH', decision('${amount} > "5" && "1.5" < ${amount}')],
  ['W_TYPE_MISMATCH', decision("${amount} > 1 && (${amount} * '2') == 4")],
  [
    'TYPE_MISMATCH',
    workflow({
      initialStep: 'all',
      steps: [{ id: 'all', type: 'for-each', items: '["a", "${amount}"]' }, step, end({})],
      edges: [
        { from: 'all', to: 'ask', on: 'each' },
        { from: 'all', to: 'end', on: 'done' },
      ],
    }),
  ],
  [
    'CYCLE_WITHOUT_BOUND',
    workflow({
      initialStep: 'if',
      steps: [{ id: 'if', type: 'condition', when: '${amount} > 1' }, step, end({})],
      edges: [
        { from: 'if', to: 'ask', on: 'true' },
        { from: 'ask', to: 'if' },
        { from: 'if', to: 'end', on: 'false' },
      ],
    }),
  ],
]

test.each(DRAFTS)('the fix of %s leaves no such problem and makes no other', (code, draft) => {
  const before = new Set(checkGraph(draft).map((problem) => problem.code))
  expect(before).toContain(code)
  let definition = draft
  for (const problem of told(draft, code)) {
    const fix = fixOf(definition, catalog, problem)
    expect(fix, problem.message).not.toBeNull()
    definition = fix?.apply(definition) ?? definition
  }
  expect(told(definition, code)).toEqual([])
  for (const { code: left } of checkGraph(definition)) expect(before).toContain(left)
})

const call = (args: object) =>
  workflow({ initialStep: 'call', steps: [{ id: 'call', type: 'call-tool', toolId: 't', args }, end({})] })
const problem = (field: string, fault: Problem['fault'], more: object = {}): Problem =>
  ({
    severity: 'warning',
    code: 'W_TOOL_ARGS',
    message: 'it must be number',
    stepId: 'call',
    field,
    fault,
    ...more,
  }) as Problem
const fixed = (args: object, of: Problem) => {
  const fix = fixOf(call(args), catalog, of)
  return fix?.apply(call(args)).steps[0]?.args
}

test('an unknown argument is renamed to the near one, or removed; nothing else changes', () => {
  expect(fixed({ nme: '${x}', b: 1 }, problem('args.nme', 'unknown', { suggestion: 'name' }))).toEqual({
    name: '${x}',
    b: 1,
  })
  expect(fixed({ a: [{ odd: 1, b: 2 }] }, problem('args.a[0].odd', 'unknown'))).toEqual({ a: [{ b: 2 }] })
})

test('an argument is never renamed to one that has a value', () => {
  const nme = problem('args.nme', 'unknown', { suggestion: 'name' })
  expect(fixed({ name: 'kept', nme: 'other' }, nme)).toBeUndefined()
  // The name got its value after the fix was offered.
  const late = call({ nme: 'other', name: 'kept' })
  expect(fixOf(call({ nme: 'other' }), catalog, nme)?.apply(late)).toEqual(late)
})

test('a path that may name two places has no fix', () => {
  const nested = { a: { b: '5' } }
  expect(fixed({ ...nested, 'x.y': 1 }, problem('args.a.b', 'wrong'))).toEqual({ a: { b: 5 }, 'x.y': 1 })
  for (const fault of ['wrong', 'unknown'] as const) {
    expect(fixed({ ...nested, 'a.b': '6' }, problem('args.a.b', fault))).toBeUndefined()
    expect(fixed({ a: ['5'], 'a[0]': { c: 1 } }, problem('args.a[0]', fault))).toBeUndefined()
    expect(fixed({ a: { 'b.c': '6', b: { c: '5' } } }, problem('args.a.b.c', fault))).toBeUndefined()
    expect(fixed({ '': { b: '5' }, b: '6' }, problem('args..b', fault))).toBeUndefined()
  }
  const draft = workflow({ steps: [end({ a: { b: '${note}' }, 'a.b': '${note}' })] })
  const problems = told(draft, 'W_REF_MAYBE')
  expect(problems.map(({ field }) => field)).toContain('output.a.b')
  for (const one of problems) expect(fixOf(draft, catalog, one)).toBeNull()
})

test('a value of the wrong type is converted only when that says the same', () => {
  expect(fixed({ a: { n: '5' } }, problem('args.a.n', 'wrong'))).toEqual({ a: { n: 5 } })
  expect(fixed({ a: 5 }, problem('args.a', 'wrong', { message: 'it must be string' }))).toEqual({ a: '5' })
  expect(fixed({ a: '1.5' }, problem('args.a', 'wrong', { message: 'it must be integer' }))).toBeUndefined()
  for (const a of ['five', '0x10', '', '12345678901234567890', true])
    expect(fixed({ a }, problem('args.a', 'wrong'))).toBeUndefined()
})

test('a text where a number is wanted becomes the START field of that name, if it is one and always there', () => {
  const use = (field: object, a: unknown, message = 'it must be number') => {
    const draft = { ...call({ a }), payload: { a: field } } as Definition
    return fixOf(draft, catalog, problem('args.a', 'wrong', { message }))?.apply(draft).steps[0]?.args
  }
  expect(use({ type: 'number' }, 'abc')).toEqual({ a: '${a}' })
  expect(use({ type: 'integer' }, 'abc')).toEqual({ a: '${a}' })
  expect(use({ type: 'number', required: false, default: 1 }, 'abc')).toEqual({ a: '${a}' })
  // A text that equals a number stays.
  expect(use({ type: 'number' }, '5')).toEqual({ a: 5 })
  expect(use({ type: 'string' }, 'abc')).toBeUndefined()
  expect(use({ type: 'number', required: false }, 'abc')).toBeUndefined()
  expect(use({ type: 'number' }, '${b}')).toBeUndefined()
  expect(use({ type: 'number' }, 'abc', 'it must be integer')).toBeUndefined()
})

test('a delay without a length gets one; of two a person decides', () => {
  const fixed = (delay: object) => {
    const draft = workflow({ initialStep: 'wait', steps: [{ id: 'wait', type: 'delay', ...delay }, end({})] })
    const of = { severity: 'error', code: 'INVALID_CONFIG', stepId: 'wait', field: 'for' } as const
    return fixOf(draft, catalog, { ...of, message: NEITHER_OR_BOTH })?.apply(draft).steps[0]?.for
  }
  expect(fixed({})).toBe('PT1M')
  expect(fixed({ for: 'PT1H', until: '${due}' })).toBeUndefined()
})

test('a problem names its field as the form does, and types in words', () => {
  const draft = workflow({ steps: [{ id: 'call', type: 'call-tool', toolId: '', args: {} }] })
  const label = (field: string) => fieldLabel(draft, catalog, problem(field, 'wrong'))
  expect(['toolId', 'args.lines[0].n', 'name', 'odd'].map(label)).toEqual([
    'Tool',
    'Arguments · lines[0].n',
    'Name',
    'odd',
  ])
  expect(inWords('Ship does not accept args.n: it must be number.')).toBe(
    'Ship does not accept args.n: it must be a number.',
  )
  expect(problemUnderField('is required')).toBe('Required')
})

test('a second step with the same id gets one of its own, and the first keeps its incoming edges', () => {
  const twice = workflow({
    initialStep: 'ask',
    steps: [step, end({ a: 1 }), end({ a: 2 })],
    edges: [{ from: 'ask', to: 'end' }],
  })
  const [duplicate] = told(twice, 'DUPLICATE_STEP_ID')
  const fix = duplicate && fixOf(twice, catalog, duplicate)
  expect(fix?.label).toBe('Name the second end_2')
  expect(fix?.apply(twice).steps).toEqual([step, end({ a: 1 }), { ...end({ a: 2 }), id: 'end_2' }])
})

test('a business key that START cannot fill gets the near name, or goes', () => {
  const key = (businessKey: string) => {
    const draft = workflow({ businessKey })
    const [message = ''] = keyProblems(draft)
    const problem: Problem = { severity: 'warning', code: 'W_BUSINESS_KEY', message, field: 'businessKey' }
    return fixOf(draft, catalog, problem)?.apply(draft)
  }
  expect(key('No ${amuont} of ${note}')?.businessKey).toBe('No ${amount} of ${note}')
  expect(key('${orderNumber}')).not.toHaveProperty('businessKey')
  expect(key('${')).not.toHaveProperty('businessKey')
})

test('a name that only a run can give is not added to START', () => {
  const draft = workflow({ steps: [end({ a: '${secrets.KEY}' })] })
  for (const one of told(draft, 'EXPRESSION_UNRESOLVED')) expect(fixOf(draft, catalog, one)).toBeNull()
})

test('a problem that needs a person’s decision has no fix', () => {
  expect(fixed({}, problem('args.name', 'missing'))).toBeUndefined()
  expect(fixOf(workflow({}), catalog, { severity: 'error', code: 'CYCLE', message: '', stepId: 'end' })).toBeNull()
})
