import { afterAll, beforeAll, expect, test } from 'vitest'
import { groupsOf } from '@/server/definition/verdict-groups'
import { Backtest } from '@/server/runs/backtest/answers'
import { backtestWorkflow } from '@/server/runs/backtest/backtest'
import { compareRun } from '@/server/runs/backtest/compare'
import { sampleIn } from '@/server/runs/backtest/sample'
import { backtests, inARow, signedIn } from '../replay/backtests'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newScriptTool } from '../support/tenant'

// Past runs of a workflow, tried on its draft.

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

const { all, published, ran, changed, tried, verdict } = backtests(() => runtime)

const check = (when: string) => ({ id: 'check', type: 'condition', when })
const edges = [
  { from: 'check', to: 'pay', on: 'true' },
  { from: 'check', to: 'refuse', on: 'false' },
]
const pay = { id: 'pay', type: 'test-effect', body: { amount: '${amount}' }, saveAs: 'paid' }
const refuse = { id: 'refuse', type: 'end-flow', output: { refused: true } }
const amounts = { payload: { amount: { type: 'number' } }, edges }
const never = new AbortController().signal
const at = (stepId: string) => ({ branch: 'main', stepId, visit: 1 })

test('runs are judged by the way, the result and the calls that they would have on the draft', async () => {
  const id = await published({ ...amounts, steps: [check('${amount} < 100'), pay, refuse] })
  for (const amount of [50, 99, 150, 500]) await ran(id, { amount })
  const same = await tried(id)
  expect(same.map(({ verdict }) => verdict)).toEqual(
    Array(4).fill({ is: 'same', calls: { new: [], gone: [], changed: [] }, assumed: [] }),
  )

  await changed(id, { steps: [check('${amount} < 200'), pay, { ...refuse, output: { refused: 'yes' } }] })
  const judged = await tried(id)
  expect(judged.map(({ verdict }) => verdict.is)).toEqual(['result', 'way', 'same', 'same'])
  const groups = groupsOf(judged)
  expect(groups.map(({ count, verdict: { is } }) => [is, count])).toEqual([
    ['result', 1],
    ['way', 1],
    ['same', 2],
  ])
  expect(groups[1]?.verdict).toMatchObject({
    ...{ is: 'way', at: at('check'), calls: { new: ['pay'], gone: [], changed: [] } },
    ...{ was: { exit: 'false', next: 'refuse' }, now: { exit: 'true', next: 'pay' } },
    assumed: [{ place: at('pay'), why: 'succeeds' }],
  })
  expect(groups[0]?.verdict).toMatchObject({ is: 'result', fields: ['refused'] })
})

test('one run is compared by its ways through both versions', async () => {
  const id = await published({ ...amounts, steps: [check('${amount} < 100'), pay, refuse] })
  const runId = await ran(id, { amount: 150 })
  await changed(id, { steps: [check('${amount} < 200'), pay, refuse] })
  const ctx = signedIn(runtime.ctx, 'editor')
  const body = { version: 2, runId }
  expect(await compareRun(ctx, { id, body }, never)).toMatchObject({
    verdict: { is: 'way', at: at('check') },
    before: { steps: [check('${amount} < 100'), pay, refuse] },
    was: [
      { branch: 'main', stepId: 'check', exit: 'false' },
      { branch: 'main', stepId: 'refuse', exit: null },
    ],
    now: [
      { branch: 'main', stepId: 'check', exit: 'true' },
      { branch: 'main', stepId: 'pay' },
    ],
  })
  const other = await published(inARow({ id: 'end', type: 'end-flow' }))
  await expect(compareRun(ctx, { id: other, body: { version: 1, runId } }, never)).rejects.toMatchObject({
    code: 'RUN_NOT_FOUND',
  })
})

test('a call with other arguments, one that is gone, and one that is new are named', async () => {
  const call = (id: string, body: object) => ({ id, type: 'test-effect', body, saveAs: id })
  const end = { id: 'end', type: 'end-flow', output: { done: true } }
  const id = await published(inARow(call('a', { n: 1 }), call('b', { n: 2 }), end))
  await ran(id)
  await changed(id, inARow(call('a', { n: 1 }), call('b', { n: 3 }), end))
  expect(await verdict(id)).toEqual({ is: 'same', changed: ['b'], assumed: ['other arguments'] })
  await changed(id, inARow(call('a', { n: 1 }), end))
  expect(await verdict(id)).toEqual({ is: 'same', gone: ['b'] })
  // The same call under another name, and one more of it.
  await changed(id, inARow(call('a', { n: 1 }), call('renamed', { n: 2 }), call('more', { n: 2 }), end))
  expect(await verdict(id)).toEqual({ is: 'same', new: ['more'], assumed: ['succeeds'] })
  await changed(
    id,
    inARow(call('a', { n: 1 }), call('b', { n: 2 }), call('c', {}), { ...end, output: { c: '${c.ok}' } }),
  )
  expect(await verdict(id)).toMatchObject({ is: 'untold', needs: { why: 'never called' }, new: ['c'] })
  expect(await verdict(id, { assume: { c: { ok: true } } })).toMatchObject({ is: 'result', assumed: ['given'] })
})

test('a draft on which a run would fail, and one on which a failed run gets past its failure, are distinguished', async () => {
  const compute = (text: string) => ({ id: 'sum', type: 'set-data', values: {}, compute: { sum: text } })
  const end = { id: 'end', type: 'end-flow', output: { sum: '${sum}' } }
  const payload = { any: { type: 'any' }, n: { type: 'number' } }
  const id = await published({ payload, ...inARow(compute('${n} + 1'), end) })
  await ran(id, { any: 'one', n: 1 })
  await changed(id, inARow(compute('${any} * 2'), end))
  expect(await verdict(id)).toMatchObject({ is: 'fails', at: 'sum', code: 'EXPRESSION_FAILED' })

  const failing = await published({ payload, ...inARow(compute('${any} * 2'), end) })
  await ran(failing, { any: 'one', n: 1 })
  expect(await verdict(failing, { of: 'failed' })).toEqual({ is: 'same' })
  await changed(failing, inARow(compute('${n} + 1'), end))
  expect(await verdict(failing, { of: 'failed' })).toEqual({ is: 'passes', at: 'sum', onward: 'ends' })
})

test('a call that failed would be made again, so its end is not known, unless it is not made any more', async () => {
  const call = (body: object) => ({
    id: 'call',
    type: 'test-effect',
    body,
    url: 'http://127.0.0.1:1/',
    retry: { maxAttempts: 1 },
  })
  const end = { id: 'end', type: 'end-flow', output: {} }
  const id = await published(inARow(call({}), end))
  await ran(id)
  expect(await verdict(id)).toEqual({ is: 'same' })
  expect(await verdict(id, { of: 'failed' })).toMatchObject({ is: 'untold', needs: { why: 'same call' } })
  await changed(id, inARow(call({ more: 1 }), end))
  expect(await verdict(id, { of: 'failed' })).toMatchObject({ is: 'untold', needs: { why: 'new call' } })
  await changed(id, { ...inARow(end), initialStep: 'end' })
  expect(await verdict(id, { of: 'failed' })).toMatchObject({ is: 'passes', onward: 'ends', gone: ['call'] })
})

test('a changed script, and a script tool of another version, are computed once for the same arguments', async () => {
  const script = (code: string) => ({ id: 'script', type: 'run-script', code, args: { n: '${n}' }, saveAs: 'twice' })
  const end = { id: 'end', type: 'end-flow', output: { twice: '${twice}' } }
  const id = await published({ payload: { n: { type: 'number' } }, ...inARow(script('return args.n * 2'), end) })
  await ran(id, { n: 4 })
  await changed(id, inARow(script('return args.n + 4'), end))
  expect(await verdict(id)).toEqual({ is: 'same', assumed: ['computed now'] })
  await changed(id, inARow(script('return args.n + 5'), end))
  expect(await verdict(id)).toEqual({ is: 'result', fields: ['twice'], assumed: ['computed now'] })
  expect(await verdict(id, { scripts: false })).toMatchObject({ is: 'same', assumed: ['other arguments'] })

  const toolId = await newScriptTool(runtime.ctx, 'return args.n * 3')
  const call = { id: 'script', type: 'call-tool', toolId, args: { n: '${n}' }, saveAs: 'twice' }
  await changed(id, inARow(call, end))
  expect(await verdict(id)).toEqual({ is: 'result', fields: ['twice'], assumed: ['computed now'] })
})

test('an answer of a person that no longer fits leaves the end unknown', async () => {
  const ask = (ids: string[]) => ({
    ...{ id: 'ask', type: 'request-user-action' },
    actions: ids.map((id) => ({ id, label: id })),
  })
  const end = { id: 'end', type: 'end-flow', output: { chose: '${ask.actionId}' } }
  const id = await published(inARow(ask(['yes', 'no']), end))
  await ran(id, {}, { type: 'request_user_action', actionId: 'yes' })
  expect(await verdict(id)).toEqual({ is: 'same' })
  await changed(id, inARow(ask(['pay', 'no']), end))
  expect(await verdict(id)).toMatchObject({ is: 'untold', needs: { why: 'answer', misfit: { action: 'yes' } } })
})

test('a sample has each kind of run, rare kinds more than their share, and says for how many each stands', () => {
  const kinds = { often: 900, seldom: 90, once: 1 }
  const candidates = Object.entries(kinds).flatMap(([stratum, many]) =>
    Array.from({ length: many }, (_, at) => ({ id: `${stratum}-${at}`, stratum })),
  )
  const { sampled, runs } = sampleIn(candidates, 50)
  expect(sampled).toEqual({ runs: 50, of: 991, newestOf: 5_000, strata: 3 })
  const counts = Object.fromEntries(
    Object.keys(kinds).map((kind) => [kind, runs.filter(({ id }) => id.startsWith(kind)).length]),
  )
  expect(counts).toEqual({ often: 37, seldom: 12, once: 1 })
  expect(Math.round(runs.reduce((sum, { standsFor }) => sum + standsFor, 0))).toBe(991)
  expect(sampleIn(candidates, 2).runs.map(({ id }) => id)).toEqual(['often-0', 'seldom-0'])
  expect(sampleIn(candidates, 1_000).sampled.runs).toBe(991)
})

test('another tenant, and a version that is gone, find nothing; a run of another workflow is left out', async () => {
  const id = await published(inARow({ id: 'end', type: 'end-flow', output: {} }))
  const runId = await ran(id)
  const other = await published(inARow({ id: 'end', type: 'end-flow', output: {} }))
  expect(await tried(other)).toEqual([])
  const { backtestRuns } = await import('@/server/runs/backtest/run')
  const ctx = signedIn(runtime.ctx, 'editor')
  const body = { version: 1, runIds: [runId] }
  expect(await backtestRuns(ctx, { id: other, body }, never)).toEqual({ runs: [], left: [] })
  await expect(backtestRuns(ctx, { id, body: { ...body, version: 9 } }, never)).rejects.toMatchObject({
    code: 'WORKFLOW_NOT_FOUND',
  })
  const theirs = signedIn(await runtime.as('editor', 'ten_other'), 'editor')
  await expect(backtestRuns(theirs, { id, body }, never)).rejects.toMatchObject({ code: 'WORKFLOW_NOT_FOUND' })
})

test('the answer of REST has every verdict in its documented form, and the counts and groups of them', async () => {
  const seen = new Set<string>()
  for (const id of all) {
    for (const of of ['ended', 'failed'] as const) {
      const body = { of, each: true }
      const found = await backtestWorkflow(signedIn(runtime.ctx, 'editor'), { id, body }, new AbortController().signal)
      expect(Backtest.parse(found)).toEqual(found)
      expect(found.groups.reduce((sum, { count }) => sum + count, 0)).toBe(found.sampled.runs)
      expect(found.runs).toHaveLength(found.sampled.runs)
      for (const { verdict } of found.runs ?? []) seen.add(verdict.is)
    }
  }
  expect([...seen].toSorted()).toEqual(['fails', 'passes', 'result', 'same', 'untold', 'way'])
})
