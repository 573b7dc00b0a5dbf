import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { MultipartInput } from '@/server/http/multipart-input'
import { startRun } from '@/server/runs/start'
import { workflowCases } from '@/server/views/test-cases'
import { updateWorkflow } from '@/server/workflows/lifecycle'
import {
  changeWorkflowExpected,
  deleteWorkflowCase,
  keepWorkflowCase,
  renameWorkflowCase,
} from '@/server/workflows/test-cases'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newTenant, withRole } from '../support/tenant'
import { keptRuns } from './kept-runs'
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

const { ended, kept, results } = keptRuns(() => runtime)

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
  // A script that only computes is computed if it changed, and only then.
  const [calc, ...rest] = PRICE.steps
  const save = (steps: object[], more: object = {}) =>
    updateWorkflow(runtime.ctx, { id, body: { steps, ...more } as never })
  await save([{ ...calc, code: 'return args.qty * 3' }, ...rest])
  expect(await results(id)).toMatchObject([{ differences: [{ path: 'sum', expected: '6', actual: '9' }] }])
  await save([{ ...calc, code: 'throw new Error("no")' }, ...rest])
  expect(await results(id)).toMatchObject([{ differences: [{ actual: 'fails: EXECUTION_ERROR, no' }] }])
  await save([{ ...calc, name: 'Calculate', timeoutMs: 1_000 }, ...rest])
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
  // A path that the run did not take has no recorded results. They matter only where something depends on them.
  const added = (more: object) => ({ id: 'more', name: 'Ask for more', type: 'test-effect', ...more })
  const edges = [
    ...PRICE.edges.filter(({ from }) => from !== 'form'),
    { from: 'form', to: 'more' },
    { from: 'more', to: 'end' },
  ]
  const unknown = 'The recorded run did not come to Ask for more, so its result is unknown.'
  await save([...PRICE.steps, added({})], { payload: PRICE.payload, edges })
  expect(await results(id)).toMatchObject([{ outcome: 'not run', reason: unknown }])
  await save([...PRICE.steps, added({ saveAs: 'extra' })], { edges })
  expect(await results(id)).toMatchObject([{ outcome: 'passed' }])
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
