import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '@/server/definition/json'
import type { PauseAnswer } from '@/server/definition/run'
import type { WorkflowCase } from '@/server/definition/test-case'
import { rerunRun } from '@/server/runs/rerun'
import { workflowCases } from '@/server/views/test-cases'
import { updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { keptRuns } from './kept-runs'

// Runs that are kept as test cases, and walked again without executing anything.

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const { ended, kept, results } = keptRuns(() => runtime)
const actions = [
  { id: 'yes', label: 'Yes' },
  { id: 'no', label: 'No' },
]
const script = (id: string, code: string, more: object = {}) => ({ id, type: 'run-script', args: {}, code, ...more })
const WALKS: [string, object, JsonObject][] = [
  [
    'an error exit',
    {
      steps: [
        script('boom', 'throw new Error("no")', { retry: { maxAttempts: 1 } }),
        { id: 'end', type: 'end-flow', output: { why: '${error.code}' } },
      ],
      edges: [{ from: 'boom', to: 'end', on: 'error' }],
    },
    {},
  ],
  [
    'a loop',
    {
      payload: { n: { type: 'number' } },
      steps: [
        { id: 'add', type: 'set-data', values: {}, compute: { n: '${n} + 1' }, maxVisits: 50 },
        { id: 'enough', type: 'condition', when: '${n} >= 20' },
        { id: 'end', type: 'end-flow', output: { n: '${n}' } },
      ],
      edges: [
        { from: 'add', to: 'enough' },
        { from: 'enough', to: 'add', on: 'false' },
        { from: 'enough', to: 'end', on: 'true' },
      ],
    },
    { n: 1 },
  ],
  [
    'branches that ask, and a list of five',
    {
      payload: { list: { type: 'array' } },
      steps: [
        { id: 'all', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] },
        { id: 'one', type: 'request-user-action', actions },
        { id: 'two', type: 'collect-inputs', output: { size: { type: 'string' } } },
        { id: 'each', type: 'for-each', items: '${list}', concurrency: 2, result: '${twice}', saveAs: 'done' },
        { id: 'twice', type: 'run-script', args: { n: '${item}' }, code: 'return args.n * 2', saveAs: 'twice' },
        { id: 'end', type: 'end-flow', output: { size: '${size}', done: '${done.results}', ok: '${one.actionId}' } },
      ],
      edges: [
        { from: 'all', to: 'one', on: 'a' },
        { from: 'all', to: 'two', on: 'b' },
        { from: 'all', to: 'each', on: 'done' },
        { from: 'each', to: 'twice', on: 'each' },
        { from: 'each', to: 'end', on: 'done' },
      ],
    },
    { list: [1, 2, 3, 4, 5] },
  ],
  [
    'a decision with fields and a remark',
    {
      steps: [
        {
          ...{ id: 'say', type: 'request-user-action', remark: 'required', saveAs: 'said' },
          actions: [
            { id: 'yes', label: 'Yes' },
            { id: 'no', label: 'No', fields: { why: { type: 'string' }, more: { type: 'array', default: [1] } } },
          ],
        },
        { id: 'end', type: 'end-flow', output: { all: '${_}', why: '${said.why}', remark: '${say.remark}' } },
      ],
      edges: [{ from: 'say', to: 'end', on: 'no' }],
    },
    {},
  ],
  ['a path that just ends', { steps: [script('a', 'return { b: 1 }')] }, {}],
  [
    'a branch that was stopped, because another one came first',
    {
      steps: [
        { id: 'race', type: 'parallel', wait: 'any', branches: [{ id: 'a' }, { id: 'b' }] },
        { id: 'never', type: 'wait-for-event', event: 'never.posted' },
        { id: 'one', type: 'request-user-action', actions },
        script('quick', 'return "b"', { saveAs: 'first' }),
        { id: 'end', type: 'end-flow', output: { first: '${first}', race: '${race}' } },
      ],
      edges: [
        { from: 'race', to: 'never', on: 'a' },
        { from: 'race', to: 'one', on: 'b' },
        { from: 'one', to: 'quick' },
        { from: 'race', to: 'end', on: 'done' },
      ],
    },
    {},
  ],
  [
    'a branch that would have waited longer, declared first',
    {
      steps: [
        { id: 'race', type: 'parallel', wait: 'any', branches: [{ id: 'a' }, { id: 'b' }] },
        { id: 'long', type: 'delay', for: 'P1D' },
        { id: 'slow', type: 'set-data', values: { late: 'a' } },
        { id: 'one', type: 'request-user-action', actions },
        { id: 'quick', type: 'set-data', values: { first: 'b' } },
        { id: 'end', type: 'end-flow' },
      ],
      edges: [
        { from: 'race', to: 'long', on: 'a' },
        { from: 'long', to: 'slow' },
        { from: 'race', to: 'one', on: 'b' },
        { from: 'one', to: 'quick' },
        { from: 'race', to: 'end', on: 'done' },
      ],
    },
    {},
  ],
  [
    'items that end in another order, of which the first failure counts',
    {
      steps: [
        { id: 'each', type: 'for-each', items: ['P1D', 'PT0S'], concurrency: 2 },
        { id: 'wait', type: 'delay', for: '${item}' },
        { id: 'fails', type: 'test-effect', body: { item: '${item}' }, saveAs: 'call' },
        { id: 'odd', type: 'condition', when: '${call.item.none}' },
        { id: 'end', type: 'end-flow', output: { error: '${error.stepId}' } },
      ],
      edges: [
        { from: 'each', to: 'wait', on: 'each' },
        { from: 'wait', to: 'fails' },
        { from: 'fails', to: 'odd' },
        { from: 'each', to: 'end', on: 'error' },
      ],
    },
    {},
  ],
]
test.each(WALKS)('a kept run, walked on its own definition, ends as it did: %s', async (_what, definition, data) => {
  const say = { actionId: 'no', actionValue: 'never', data: { why: 'dear' }, remark: 'sorry' }
  const run = await ended(definition, data, { two: { size: 'large' }, say })
  expect(run.status).toBe('completed')
  const { id } = await kept(run, { kind: 'same' })
  expect(await workflowCases(runtime.ctx, { id })).toMatchObject([{ expected: { kind: 'equals', value: run.result } }])
  const passed = [{ outcome: 'passed', differences: [], reason: null, assumed: [] }]
  expect(await results(id)).toMatchObject(passed)
  await asBefore(id)
  expect(await results(id)).toMatchObject(passed)
})

/** As earlier releases kept runs: neither what steps asked, nor the order in which branches ended. */
async function asBefore(id: string) {
  const [row] = await database.sql`select given from test_cases where object_id = ${id}`
  const { data, steps } = (row as { given: WorkflowCase }).given
  const output = (answer: PauseAnswer) => {
    const { data: filled = {}, ...rest } = answer as { data?: JsonObject }
    return { ...filled, ...rest }
  }
  const given = {
    data,
    steps: Object.fromEntries(
      Object.entries(steps).map(([stepId, outcomes]) => [
        stepId,
        outcomes.map(({ type: _type, asked: _asked, ...outcome }) => {
          if (!('answer' in outcome)) return outcome
          const { branch, visit, answer } = outcome
          return { branch, visit, output: output(answer) }
        }),
      ]),
    ),
  }
  await database.sql`update test_cases set given = ${JSON.stringify(given)} where object_id = ${id}`
}

test('a run whose arguments are too large for a test case is kept without them', async () => {
  const call = { id: 'call', type: 'run-script', args: { big: '${big}' }, code: 'return args.big.length', saveAs: 'n' }
  const end = { id: 'end', type: 'end-flow', output: { n: '${n}' } }
  const definition = { payload: { big: { type: 'string' } }, steps: [call, end], edges: [{ from: 'call', to: 'end' }] }
  const { id } = await kept(await ended(definition, { big: 'x'.repeat(120_000) }), { kind: 'same' })
  expect(await results(id)).toMatchObject([{ outcome: 'passed', differences: [] }])
})

test('a run of a retry with changed data passes as it ended', async () => {
  const definition = {
    payload: { n: { type: 'number' } },
    steps: [
      { id: 'first', type: 'test-effect', body: { got: '${n}' }, saveAs: 'one' },
      { id: 'second', type: 'test-effect', body: { got: '${n}' }, saveAs: 'two' },
      { id: 'end', type: 'end-flow', output: { n: '${n}', one: '${one.got}', two: '${two.got}' } },
    ],
    edges: [
      { from: 'first', to: 'second' },
      { from: 'second', to: 'end' },
    ],
  }
  const old = await ended(definition, { n: 1 })
  const again = await rerunRun(runtime.ctx, { runId: old.runId, body: { fromStepId: 'second', data: { n: 2 } } })
  const run = await runtime.wait(again.runId)
  expect(run.result).toEqual({ n: 2, one: 1, two: 2 })
  const { id } = await kept(run, { kind: 'same' })
  expect(await results(id)).toMatchObject([{ outcome: 'passed', differences: [] }])
})

const UNKNOWN: [string, 'passed' | 'not run', object][] = [
  ['is copied', 'passed', { id: 'use', type: 'set-data', values: { copy: 'it is ${new}' } }],
  ['makes a computed field unknown', 'passed', { id: 'use', type: 'set-data', compute: { copy: '${new} + 1' } }],
  ['is an argument of a call', 'passed', { id: 'use', type: 'test-effect', body: { new: '${new}' }, saveAs: 'used' }],
  ['decides a condition', 'not run', { id: 'use', type: 'condition', when: '${new} > 1' }],
  ['has an unknown part', 'not run', { id: 'use', type: 'set-data', values: { copy: '${new.part}' } }],
  ['may need a fallback', 'not run', { id: 'use', type: 'set-data', values: { copy: '${new ?? 1}' } }],
  ['is a list of items', 'not run', { id: 'use', type: 'for-each', items: '${new}' }],
  ['is a time to wait', 'not run', { id: 'use', type: 'delay', for: '${new}' }],
  ['changes the result', 'not run', { id: 'use', type: 'set-data', values: { got: '${new}' } }],
  [
    'may be there already',
    'not run',
    { id: 'use', type: 'collect-inputs', skipWhenPresent: true, output: { new: { type: 'string' } } },
  ],
]
test.each(UNKNOWN)('the unknown result of a new call %s: %s', async (_what, wanted, use) => {
  const call = { id: 'call', type: 'test-effect', body: { got: 1 } }
  const end = { id: 'end', type: 'end-flow', output: { got: '${got}' } }
  const run = await ended({ steps: [call, end], edges: [{ from: 'call', to: 'end' }] }, {})
  const { id } = await kept(run, { kind: 'same' })
  const added = { id: 'added', type: 'test-effect', body: { is: 'new' }, saveAs: 'new' }
  const [on] = 'when' in use ? ['true'] : 'items' in use ? ['done'] : [undefined]
  const edges = [
    { from: 'call', to: 'added' },
    { from: 'added', to: 'use' },
    { from: 'use', to: 'end', ...(on ? { on } : {}) },
  ]
  await updateWorkflow(runtime.ctx, { id, body: { steps: [call, added, use, end], edges } as never })
  const reason = 'The recorded run did not come to added, so its result is unknown.'
  expect(await results(id)).toMatchObject([{ outcome: wanted, reason: wanted === 'passed' ? null : reason }])
})

test('what a passed case takes for granted is named', async () => {
  const call = (more: object = {}) => ({ id: 'call', type: 'test-effect', body: { got: 1 }, ...more })
  const end = { id: 'end', type: 'end-flow', output: { got: '${got}' } }
  const edges = [{ from: 'call', to: 'end' }]
  const { id } = await kept(await ended({ steps: [call(), end], edges }, {}), { kind: 'same' })
  const assumed = async (steps: object[], edges: object[]) => {
    await updateWorkflow(runtime.ctx, {
      id,
      body: { initialStep: (steps[0] as { id: string }).id, steps, edges } as never,
    })
    const [result] = await results(id)
    expect(result?.outcome).toBe('passed')
    return result?.assumed
  }
  expect(await assumed([call({ name: 'Call', retry: { maxAttempts: 2 } }), end], edges)).toEqual([])
  const twice = [
    { from: 'before', to: 'call' },
    { from: 'call', to: 'end' },
  ]
  expect(await assumed([{ ...call(), id: 'before' }, call(), end], twice)).toEqual([
    'Assumes that before gives what another step gave that asked the same.',
  ])
  expect(await assumed([call({ body: { got: 2 } }), end], edges)).toEqual([
    'Assumes that call gives the same, although its settings or values differ.',
  ])
  const added = { id: 'added', type: 'test-effect', name: 'Tell them', body: {}, saveAs: 'more' }
  const sum = { id: 'sum', type: 'set-data', compute: { sum: '${more} + 1' } }
  const longer = [
    { from: 'call', to: 'added' },
    { from: 'added', to: 'sum' },
    { from: 'sum', to: 'end' },
  ]
  expect(await assumed([call(), added, sum, end], longer)).toEqual([
    'Assumes that Tell them succeeds, to which the recorded run did not come.',
    'Assumes that sum can be computed.',
  ])
})

test('a call that was renamed, or is made in another order, keeps its result', async () => {
  const call = (id: string, which: number) => ({ id, type: 'test-effect', body: { which }, saveAs: id })
  const end = { id: 'end', type: 'end-flow', output: { a: '${a.which}', b: '${b.which}' } }
  const chain = (...steps: { id: string }[]) => ({
    steps,
    edges: steps.slice(1).map((step, at) => ({ from: steps[at]?.id, to: step.id })),
  })
  const run = await ended(chain(call('a', 1), call('b', 2), end), {})
  const { id } = await kept(run, { kind: 'same' })
  const renamed = { ...call('other', 1), saveAs: 'a' }
  const draft = chain(call('b', 2), renamed, end)
  await updateWorkflow(runtime.ctx, { id, body: { ...draft, initialStep: 'b' } as never })
  expect(await results(id)).toMatchObject([{ outcome: 'passed', differences: [] }])
})
