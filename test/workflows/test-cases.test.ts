import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import type { PauseSignal } from '@/server/definition/run'
import type { Expected } from '@/server/definition/test-case'
import { MultipartInput } from '@/server/http/multipart-input'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { workflowCases } from '@/server/views/test-cases'
import { updateWorkflow } from '@/server/workflows/lifecycle'
import {
  changeWorkflowExpected,
  deleteWorkflowCase,
  keepWorkflowCase,
  renameWorkflowCase,
  runWorkflowCases,
} from '@/server/workflows/test-cases'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newTenant, withRole } from '../support/tenant'
import { outcome } from './support'

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

const never = new AbortController().signal
const actions = [
  { id: 'yes', label: 'Yes' },
  { id: 'no', label: 'No' },
]
const PRICE = {
  payload: { qty: { type: 'number' } },
  steps: [
    { id: 'calc', type: 'run-script', args: { qty: '${qty}' }, code: 'return args.qty * 2', saveAs: 'sum' },
    { id: 'ok', type: 'request-user-action', actions },
    { id: 'form', type: 'collect-inputs', output: { note: { type: 'string' } } },
    { id: 'end', type: 'end-flow', output: { sum: '${sum}', decision: '${ok.actionId}', note: '${note}' } },
    { id: 'no', type: 'fail-flow', code: 'REFUSED', message: 'No' },
  ],
  edges: [
    { from: 'calc', to: 'ok' },
    { from: 'ok', to: 'form', on: 'yes' },
    { from: 'ok', to: 'no', on: 'no' },
    { from: 'form', to: 'end' },
  ],
}

/** Runs a definition, answers its pauses, and returns the ended run. */
async function ended(definition: object, data: JsonObject, answers: JsonObject = {}) {
  const runId = await runtime.start(definition, data)
  for (;;) {
    const run = await runtime.wait(runId, ({ status }) => status !== 'running')
    const [pause] = run.pauseSignals as ({ id: string } & PauseSignal)[]
    if (run.status !== 'paused' || !pause) return run
    const given = answers[pause.stepId] ?? 'yes'
    const body =
      pause.type === 'collect_inputs'
        ? { type: pause.type, pauseId: pause.id, data: given }
        : { type: pause.type, pauseId: pause.id, ...(typeof given === 'object' ? given : { actionId: given }) }
    await resumeRun(runtime.ctx, { runId, body })
    await runtime.wait(runId, (now) => now.status !== 'paused' || now.pauseSignal?.id !== pause.id)
  }
}

async function kept(run: { runId: string; workflowId: string }, expected: Expected | { kind: 'same' }, name = 'Kept') {
  const { id } = await keepWorkflowCase(runtime.ctx, { id: run.workflowId, body: { name, runId: run.runId, expected } })
  return { id: run.workflowId, caseId: id }
}
const results = async (id: string) => (await runWorkflowCases(runtime.ctx, { id, body: {} }, never)).results

test('a run that was started with a file passes as it ended', async () => {
  const definition = {
    payload: { invoice: { type: 'file' }, title: { type: 'string', required: false } },
    steps: [{ id: 'end', type: 'end-flow', output: { attached: '${fileId}', invoice: '${invoice}' } }],
  }
  const file = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('An invoice') }
  const run = await runtime.wait(await runtime.start(definition, new MultipartInput(new Map(), file, [])))
  const { fileId } = run.data as { fileId: string }
  expect(run.result).toEqual({ attached: fileId, invoice: fileId })
  const { id } = await kept(run, { kind: 'same' })
  expect(await results(id)).toMatchObject([{ outcome: 'passed', differences: [] }])
})

test('a run that was kept is walked again on the draft, with its results and answers, and nothing is executed', async () => {
  const run = await ended(PRICE, { qty: 3 }, { form: { note: 'fine' } })
  const expected = { sum: 6, decision: 'yes', note: 'fine' }
  expect(run.result).toEqual(expected)
  const { id, caseId } = await kept(run, { kind: 'equals', value: expected })
  const before = await database.sql`select count(*)::int from runs`
  expect(await results(id)).toMatchObject([{ id: caseId, name: 'Kept', outcome: 'passed', differences: [] }])
  // The results of effects are replayed, even if effects would now return others.
  const [calc, ...rest] = PRICE.steps
  const save = (steps: object[], more: object = {}) =>
    updateWorkflow(runtime.ctx, { id, body: { steps, ...more } as never })
  await save([{ ...calc, code: 'throw new Error("executed")' }, ...rest])
  expect(await results(id)).toMatchObject([{ outcome: 'passed' }])
  expect(await database.sql`select count(*)::int from runs`).toEqual(before)

  await save([
    calc,
    ...rest.map((step) => (step.id === 'end' ? { ...step, output: { sum: '${sum}' } } : step)),
  ] as never)
  expect(await results(id)).toMatchObject([
    {
      outcome: 'failed',
      differences: [
        { path: 'decision', expected: '"yes"', actual: 'nothing' },
        { path: 'note', expected: '"fine"', actual: 'nothing' },
      ],
    },
  ])
  await save(PRICE.steps, { payload: { qty: { type: 'number' }, more: { type: 'string' } } })
  expect(await results(id)).toMatchObject([
    { outcome: 'failed', differences: [{ expected: 'succeeds', actual: 'fails: INVALID_INPUT, more is required' }] },
  ])
  // A path that the run did not take has no recorded results.
  const added = { id: 'more', name: 'Ask for more', type: 'run-script', args: {}, code: 'return {}' }
  await save([...PRICE.steps, added], {
    payload: PRICE.payload,
    edges: [
      ...PRICE.edges.filter(({ from }) => from !== 'form'),
      { from: 'form', to: 'more' },
      { from: 'more', to: 'end' },
    ],
  })
  expect(await results(id)).toMatchObject([
    { outcome: 'not run', reason: 'The run that was kept did not come to Ask for more, so its result is unknown.' },
  ])
  await save([calc, { id: 'ok', type: 'request-user-action', actions: actions.slice(1) }, ...rest.slice(1)] as never, {
    edges: [...PRICE.edges.filter(({ on }) => on !== 'yes'), { from: 'ok', to: 'form' }],
  })
  expect(await results(id)).toMatchObject([
    { outcome: 'not run', reason: 'ok no longer has the action yes, which was chosen.' },
  ])
  await save([{ id: 'calc', type: 'no-such-step' }], { edges: [] })
  expect(await outcome(results(id))).toBe('VALIDATION_FAILED')
})

test('a run that failed is kept with its code', async () => {
  const run = await ended(PRICE, { qty: 3 }, { ok: 'no' })
  expect(run.error).toMatchObject({ code: 'REFUSED' })
  const { id } = await kept(run, { kind: 'same' })
  expect(await workflowCases(runtime.ctx, { id })).toMatchObject([{ expected: { kind: 'fails', code: 'REFUSED' } }])
  await kept(run, { kind: 'succeeds' }, 'Wrong')
  expect(await results(id)).toMatchObject([{ outcome: 'passed' }, { outcome: 'failed' }])
})

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
]
test.each(WALKS)('a kept run, walked on its own definition, ends as it did: %s', async (_what, definition, data) => {
  const say = { actionId: 'no', actionValue: 'never', data: { why: 'dear' }, remark: 'sorry' }
  const run = await ended(definition, data, { two: { size: 'large' }, say })
  expect(run.status).toBe('completed')
  const { id } = await kept(run, { kind: 'same' })
  expect(await workflowCases(runtime.ctx, { id })).toMatchObject([{ expected: { kind: 'equals', value: run.result } }])
  expect(await results(id)).toMatchObject([{ outcome: 'passed', differences: [], reason: null }])
})

test('cases are renamed, changed and deleted by those who edit the workflow, in their own workspace', async () => {
  const run = await ended({ steps: [script('a', 'return { b: 1 }')] }, {})
  const one = await kept(run, { kind: 'succeeds' })
  await renameWorkflowCase(runtime.ctx, { ...one, name: 'Renamed' })
  await changeWorkflowExpected(runtime.ctx, { ...one, expected: { kind: 'equals', value: { b: 2 } } })
  const [shown] = await workflowCases(runtime.ctx, one)
  expect(shown).toMatchObject({ name: 'Renamed', expected: { kind: 'equals', value: { b: 2 } } })
  expect(shown).not.toHaveProperty('given')
  const viewer = withRole(runtime.ctx, 'operator')
  const body = { name: 'Mine', runId: run.runId, expected: { kind: 'succeeds' } }
  expect(await outcome(keepWorkflowCase(viewer, { id: one.id, body }))).toBe('FORBIDDEN')
  const stranger = await newTenant(database)
  expect(await outcome(keepWorkflowCase(stranger, { id: one.id, body }))).toBe('WORKFLOW_NOT_FOUND')
  expect(await outcome(deleteWorkflowCase(stranger, one))).toBe('WORKFLOW_NOT_FOUND')
  await deleteWorkflowCase(runtime.ctx, one)
  expect(await workflowCases(runtime.ctx, one)).toEqual([])
})

test('a run in progress, of another workflow, or that holds the data of a token’s subject is not kept', async () => {
  const run = await ended({ steps: [script('a', 'return {}')] }, {})
  const other = await ended({ steps: [script('a', 'return {}')] }, {})
  const body = { name: 'No', runId: run.runId, expected: { kind: 'succeeds' } }
  expect(await outcome(keepWorkflowCase(runtime.ctx, { id: other.workflowId, body }))).toBe('RUN_NOT_FOUND')
  const runId = await runtime.start(PRICE, { qty: 1 })
  const open = await runtime.wait(runId, ({ status }) => status === 'paused')
  expect(await outcome(keepWorkflowCase(runtime.ctx, { id: open.workflowId, body: { ...body, runId } }))).toBe(
    'CONFLICT',
  )
  const subject: ServiceContext = {
    ...runtime.ctx,
    actor: { kind: 'jwt', id: 'user_1', secretId: 'jws_1', role: 'operator' },
  }
  const theirs = await startRun(subject, { workflowId: run.workflowId, body: {} })
  await runtime.wait(theirs.runId)
  expect(
    await outcome(keepWorkflowCase(runtime.ctx, { id: run.workflowId, body: { ...body, runId: theirs.runId } })),
  ).toBe('CONFLICT')
})
