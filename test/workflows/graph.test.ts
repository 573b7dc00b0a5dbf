import { describe, expect, test } from 'vitest'
import { keyProblems } from '@/server/definition/business-key'
import type { Definition } from '@/server/definition/schema'
import { flowOf } from '@/server/workflows/check/flow'
import { checkGraph } from '@/server/workflows/check/graph'
import { SAMPLE_WORKFLOWS } from '@/server/workflows/samples'
import { quickest } from '../support/patience'

const base: Definition = {
  name: 'n',
  description: '',
  initialStep: 'ask',
  payload: { who: { type: 'string' } },
  steps: [
    { id: 'ask', type: 'collect-inputs', output: { amount: { type: 'number' } } },
    { id: 'greet', type: 'call-tool', toolId: 't', args: { a: '${amount}', w: '${who}' } },
    { id: 'end', type: 'end-flow', output: { sum: '${greet.value}' } },
  ],
  edges: [
    { from: 'ask', to: 'greet' },
    { from: 'greet', to: 'end' },
  ],
}
const codes = (definition: Partial<Definition>, severity = 'error') =>
  checkGraph({ ...base, ...definition })
    .filter((problem) => problem.severity === severity)
    .map((problem) => problem.code)

describe('checkGraph', () => {
  test('a valid definition has no problems, also if it waits for a person', () => {
    expect(codes({})).toEqual([])
    expect(codes({}, 'warning')).toEqual([])
  })

  test.each(SAMPLE_WORKFLOWS.map(({ definition }) => [definition.name, definition] as const))(
    'the sample %s has no problems',
    (_name, definition) => {
      expect(checkGraph(definition)).toEqual([])
      expect(keyProblems(definition)).toEqual([])
    },
  )

  test('names every problem with its step and field, not only the first', () => {
    const problems = checkGraph({
      ...base,
      initialStep: 'nope',
      steps: [
        { id: 'a', type: 'call-tool' },
        { id: 'a', type: 'made-up' },
      ],
      edges: [{ from: 'a', to: 'ghost' }],
    }).filter((problem) => problem.severity === 'error')
    expect(problems.map(({ code, stepId, field }) => ({ code, stepId, field }))).toEqual([
      { code: 'UNKNOWN_INITIAL_STEP', stepId: undefined, field: 'initialStep' },
      { code: 'INVALID_CONFIG', stepId: 'a', field: 'toolId' },
      { code: 'DUPLICATE_STEP_ID', stepId: 'a', field: 'id' },
      { code: 'UNKNOWN_STEP_TYPE', stepId: 'a', field: 'type' },
      { code: 'DANGLING_EDGE', stepId: 'a', field: 'edges[0].to' },
    ])
  })

  test('a field without a value is said to need one, in no words about types', () => {
    const steps = [{ id: 'ask', type: 'call-tool' }]
    const [missing] = checkGraph({ ...base, steps, edges: [] })
    expect(missing).toMatchObject({ code: 'INVALID_CONFIG', field: 'toolId', message: 'A value is required.' })
    const [wrong] = checkGraph({ ...base, steps: steps.map((step) => ({ ...step, toolId: 1 })), edges: [] })
    expect(wrong?.message).not.toBe('A value is required.')
  })

  test('two plain edges out of a step do not mean parallel branches', () => {
    expect(codes({ edges: [...base.edges, { from: 'ask', to: 'end' }] })).toContain('AMBIGUOUS_EDGES')
  })

  test('a cycle is an error that names its steps', () => {
    const edges = [
      { from: 'ask', to: 'greet' },
      { from: 'greet', to: 'ask' },
    ]
    const [problem] = checkGraph({ ...base, edges }).filter((candidate) => candidate.code === 'CYCLE')
    expect(problem?.message).toContain('ask → greet → ask')
  })

  const looping = (...edges: Definition['edges']) => ({
    payload: { n: { type: 'number' as const } },
    initialStep: 'count',
    steps: [
      { id: 'count', type: 'set-data', compute: { n: '${n} + 1' } },
      { id: 'more', type: 'condition', when: '${n} < 3' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'count', to: 'more' }, { from: 'more', to: 'count', on: 'true' }, ...edges],
  })

  test('a loop needs a bound and a way out', () => {
    const out = { from: 'more', to: 'end', on: 'false' }
    const loop = looping(out)
    expect(codes(loop)).toEqual(['CYCLE_WITHOUT_BOUND'])
    const bounded = {
      ...loop,
      steps: loop.steps.map((step) => (step.id === 'more' ? { ...step, maxVisits: 9 } : step)),
    }
    expect(codes(bounded)).toEqual([])
    expect(codes(bounded, 'warning')).toEqual([])
    // A failure is not a way out, but its edge may be.
    const stuck = { ...bounded, edges: [...loop.edges.slice(0, 2), { from: 'more', to: 'count', on: 'false' }] }
    expect(codes(stuck)).toContain('CYCLE')
    expect(codes({ ...stuck, edges: [...stuck.edges, { from: 'count', to: 'end', on: 'error' }] })).toEqual([])
    // One bounded loop does not bound another.
    const two = { ...bounded, edges: [...bounded.edges, { from: 'count', to: 'count', on: 'error' }] }
    expect(codes(two)).toEqual(['CYCLE_WITHOUT_BOUND'])
  })

  test('an edge leaves by an exit that its step has, and actions and cases are exits', () => {
    const decision = { id: 'ask', type: 'request-user-action', actions: [{ id: 'yes', label: 'Yes' }] }
    const steps = [decision, { id: 'end', type: 'end-flow' }]
    const from = (on: string) => codes({ steps, edges: [{ from: 'ask', to: 'end', on }] })
    expect(from('yes')).toEqual([])
    expect(from('error')).toEqual([])
    expect(from('no')).toEqual(['UNKNOWN_EXIT'])
    expect(codes({ steps, edges: [{ from: 'ask', to: 'end', on: 'yes' }] }, 'warning')).not.toContain('W_NO_END')
  })

  test('a path that ends at one exit of several is a warning that names it', () => {
    const problems = checkGraph({ ...base, ...looping() })
    expect(problems.filter(({ code }) => code === 'W_NO_END').map(({ message }) => message)).toEqual([
      'The path ends at the exit false of more without an end step; the result will be all run data.',
    ])
  })

  test('after a failure there is an error, and nothing of the step that failed', () => {
    const failing = (output: string) => ({
      steps: [
        { id: 'ask', type: 'collect-inputs', output: { amount: { type: 'number' } } },
        { id: 'end', type: 'end-flow', output: { x: output } },
      ] as Definition['steps'],
      edges: [{ from: 'ask', to: 'end', on: 'error' }],
    })
    expect(codes(failing('${error.code}'))).toEqual([])
    expect(codes(failing('${amount}'))).toEqual(['EXPRESSION_UNRESOLVED'])
    expect(codes({ ...failing('${error.code}'), edges: [{ from: 'ask', to: 'end' }] })).toEqual([
      'EXPRESSION_UNRESOLVED',
    ])
  })

  test('expressions are checked like templates, and has() answers for its path', () => {
    const when = (text: string, severity?: string) =>
      codes(
        {
          payload: { vat: { type: 'string', required: false } },
          steps: [{ id: 'ask', type: 'condition', when: text }],
          edges: [],
        },
        severity,
      )
    expect(when('${nobody} == 1')).toEqual(['EXPRESSION_UNRESOLVED'])
    expect(when('has(${nobody})')).toEqual([])
    expect(when('${vat} == "x"', 'warning')).toContain('W_REF_MAYBE')
    expect(when('has(${vat}) && ${vat} == "x"', 'warning')).not.toContain('W_REF_MAYBE')
    expect(when('!has(${vat}) || ${vat} == "x"', 'warning')).not.toContain('W_REF_MAYBE')
    expect(when('!(has(${vat}) && true) ? true : ${vat} == "x"', 'warning')).not.toContain('W_REF_MAYBE')
    expect(when('has(${vat}) || ${vat} == "x"', 'warning')).toContain('W_REF_MAYBE')
    expect(when('has(${vat}) ? true : ${vat} == "x"', 'warning')).toContain('W_REF_MAYBE')
    expect(when('${vat} == "x" && has(${vat})', 'warning')).toContain('W_REF_MAYBE')
    expect(when('${vat} =')).toEqual(['INVALID_CONFIG'])
  })

  test('the worst drafts are checked in a moment: loops written backwards, apart from each other, or that nothing enters', async () => {
    const ids = Array.from({ length: 1_000 }, (_, i) => `s${i}`)
    const steps = ids.map((id) => ({ id, type: 'set-data', compute: { [id]: '1' }, maxVisits: 2 }))
    const shapes = {
      backwards: ids.map((from, i) => ({ from, to: ids[(i + 999) % 1_000] ?? '' })),
      apart: ids.map((from, i) => ({ from, to: ids[i ^ 1] ?? '' })),
      ladder: ids.flatMap((from, i) => [
        { from, to: ids[i + 1] ?? 's0' },
        { from, to: ids[i - 1] ?? 's0', on: 'error' },
      ]),
      // Found by walking random graphs: none of these had an end.
      failing: ids.flatMap((from, i) => [
        { from, to: ids[(i * 7 + 3) % 1_000] ?? '' },
        { from, to: ids[(i * 13 + 5) % 1_000] ?? '', on: 'error' },
      ]),
    }
    for (const [shape, edges] of Object.entries(shapes)) {
      const took = await quickest(15_000, () => {
        flowOf({ ...base, initialStep: 's1', steps, edges }).at('s0')
        checkGraph({ ...base, initialStep: 's1', steps, edges })
      })
      expect(took, shape).toBeLessThan(15_000)
    }
  })

  test('no edge leaves the end', () => {
    expect(codes({ edges: [...base.edges, { from: 'end', to: 'ask' }] })).toContain('UNKNOWN_EXIT')
  })

  test('steps that no path reaches, and paths without an end, are warnings', () => {
    const steps = [...base.steps, { id: 'lost', type: 'end-flow' }]
    expect(codes({ steps }, 'warning')).toContain('W_UNREACHABLE')
    expect(codes({ edges: [{ from: 'ask', to: 'greet' }], steps: base.steps.slice(0, 2) }, 'warning')).toContain(
      'W_NO_END',
    )
  })

  test('a reference to which no path gives a value is an error, unless it has a fallback', () => {
    const withArgs = (args: string) =>
      [base.steps[0], { id: 'end', type: 'end-flow', output: { x: args } }] as Definition['steps']
    const edges = [{ from: 'ask', to: 'end' }]
    expect(codes({ steps: withArgs('${nobody}'), edges })).toEqual(['EXPRESSION_UNRESOLVED'])
    expect(codes({ steps: withArgs('${nobody ?? 1}'), edges })).toEqual([])
    expect(codes({ steps: withArgs('${amount}'), edges })).toEqual([])
    expect(codes({ steps: withArgs('${ask.amount}'), edges })).toEqual([])
    expect(codes({ steps: withArgs('${_}'), edges })).toEqual([])
    expect(codes({ steps: withArgs('${who} ${bad bad}'), edges })).toEqual(['INVALID_EXPRESSION'])
  })

  test('after a tool with unknown output, no names are reported as unresolved', () => {
    const steps = base.steps.map((step) => (step.id === 'end' ? { ...step, output: { x: '${anything}' } } : step))
    expect(codes({ steps })).toEqual([])
  })

  test('2,000 steps in a row are checked without deep recursion', async () => {
    const steps = Array.from({ length: 2000 }, (_, i) => ({ id: `s${i}`, type: 'call-tool', toolId: 't' }))
    const edges = steps.slice(1).map((step, i) => ({ from: `s${i}`, to: step.id }))
    const took = await quickest(5_000, () => expect(codes({ initialStep: 's0', steps, edges })).toEqual([]))
    expect(took).toBeLessThan(5_000)
  })
})
