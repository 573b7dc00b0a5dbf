import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import type { RunPart } from '@/server/definition/part'
import { cancelRun } from '@/server/runs/cancel'
import { rerunRun } from '@/server/runs/rerun'
import { resumeRun } from '@/server/runs/resume'
import { retryRun } from '@/server/runs/retry'
import { startRun } from '@/server/runs/start'
import { browseRuns } from '@/server/views/runs/browse'
import { readOutputs } from '@/server/views/runs/outputs'
import { getRunOverview } from '@/server/views/runs/overview'
import { readStepValues } from '@/server/views/runs/step-values'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
let healthy = true

beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(({ path }) =>
    path === '/moody' && !healthy ? { status: 400 } : { body: { said: path.slice(1) } },
  )
  runtime = await startTestRuntime(database.url)
})

afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

const effect = (id: string, more: object = {}) => ({
  id,
  type: 'test-effect',
  url: `${effects.url}${id}`,
  saveAs: id,
  ...more,
})
const chain = (...ids: string[]) => ids.slice(1).map((to, at) => ({ from: ids[at] ?? '', to }))
const saved = async (definition: object) => (await createWorkflow(runtime.ctx, { name: 'Part', ...definition })).id
const begin = async (workflowId: string, part: RunPart, body: JsonObject = {}, ctx: ServiceContext = runtime.ctx) =>
  (await startRun(ctx, { workflowId, body, part })).runId
const tried = async (definition: object, part: RunPart, body: JsonObject = {}) =>
  runtime.wait(await begin(await saved(definition), part, body))
const visited = ({ stepExecutionHistory }: { stepExecutionHistory: { stepId: string; status: string }[] }) =>
  stepExecutionHistory.filter(({ status }) => status === 'completed').map(({ stepId }) => stepId)
const callsOf = (runId: string) =>
  effects.seen.filter(({ key }) => key.startsWith(runId)).map(({ path }) => path.slice(1))

describe('a run to a step', () => {
  it('ends after that step, and is a test run', async () => {
    const steps = [effect('a'), effect('b', { body: { n: '${n}' } }), effect('c')]
    const payload = { n: { type: 'number' } }
    const run = await tried({ payload, steps, edges: chain('a', 'b', 'c') }, { to: 'b' }, { n: 3 })
    expect(run).toMatchObject({ status: 'completed', outcome: 'succeeded' })
    expect(await getRunOverview(runtime.ctx, run)).toMatchObject({ startedVia: 'test', versionNumber: null })
    expect(visited(run)).toEqual(['a', 'b'])
    expect(callsOf(run.runId)).toEqual(['a', 'b'])
    expect(run.data).toMatchObject({ n: 3, a: { said: 'a' }, b: { said: 'b' } })
  })

  it('is of a draft only while its version is none, and neither is a child run of it', async () => {
    const child = await saved({ steps: [effect('in_child')] })
    await publishWorkflow(runtime.ctx, { id: child })
    const id = await saved({ steps: [{ id: 'go', type: 'run-workflow', workflowId: child }, effect('b')] })
    await publishWorkflow(runtime.ctx, { id })
    const ofVersion = await runtime.wait(await begin(id, { to: 'go' }))
    await updateWorkflow(runtime.ctx, { id, body: { description: 'A draft' } })
    const draft = { workflowId: id, version: 'latest', body: {}, part: { to: 'go' } }
    const ofDraft = await runtime.wait((await startRun(runtime.ctx, draft)).runId)
    const { runs: children } = await browseRuns(runtime.ctx, { workflowIds: [child] })
    const seen = [ofVersion.runId, ofDraft.runId, ...children.map(({ runId }) => runId)]
    const overviews = await Promise.all(seen.map((runId) => getRunOverview(runtime.ctx, { runId })))
    expect(overviews.map(({ startedVia }) => startedVia)).toEqual(Array(4).fill('test'))
    expect(overviews.map(({ versionNumber }) => versionNumber)).toEqual([1, null, 1, 1])
    const listed = (await browseRuns(runtime.ctx, { workflowIds: [id] })).runs
    expect(listed.map(({ runId, versionNumber }) => [runId, versionNumber])).toEqual([
      [ofDraft.runId, null],
      [ofVersion.runId, 1],
    ])
  })

  it('needs nothing of the steps after it, but all of those on the way', async () => {
    const broken = { id: 'c', type: 'condition', when: '1 +' }
    const definition = { steps: [effect('a'), effect('b'), broken], edges: chain('a', 'b', 'c') }
    expect(visited(await tried(definition, { to: 'b' }))).toEqual(['a', 'b'])
    await expect(tried({ ...definition, edges: chain('a', 'c', 'b') }, { to: 'b' })).rejects.toThrow(
      expect.objectContaining({ code: 'VALIDATION_FAILED' }),
    )
  })

  it('ends where a path leaves the way to it', async () => {
    const test = { id: 'test', type: 'condition', when: '${n} > 1' }
    const definition = {
      payload: { n: { type: 'number' } },
      steps: [test, effect('yes'), effect('no'), effect('both')],
      edges: [
        { from: 'test', to: 'yes', on: 'true' },
        { from: 'test', to: 'no', on: 'false' },
        ...chain('yes', 'both'),
        ...chain('no', 'both'),
      ],
    }
    expect(visited(await tried(definition, { to: 'yes' }, { n: 2 }))).toEqual(['test', 'yes'])
    expect(visited(await tried(definition, { to: 'yes' }, { n: 0 }))).toEqual(['test'])
    expect(visited(await tried(definition, { to: 'both' }, { n: 0 }))).toEqual(['test', 'no', 'both'])
  })

  it('does not take another exit in place of one that leaves the way to it', async () => {
    const actions = ['yes', 'no'].map((id) => ({ id, label: id }))
    const definition = {
      steps: [{ id: 'ask', type: 'request-user-action', title: 'Well?', actions }, effect('paid'), effect('refused')],
      edges: [
        { from: 'ask', to: 'paid' },
        { from: 'ask', to: 'refused', on: 'no' },
      ],
    }
    const workflowId = await saved(definition)
    for (const [actionId, ran] of [
      ['no', []],
      ['yes', ['paid']],
    ] as const) {
      const runId = await begin(workflowId, { to: 'paid' })
      await runtime.wait(runId, ({ status }) => status === 'paused')
      await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId } })
      expect((await runtime.wait(runId)).status).toBe('completed')
      expect(callsOf(runId)).toEqual(ran)
    }
  })

  it('in a loop, ends at its first visit', async () => {
    const more = { id: 'more', type: 'condition', when: 'true' }
    const edges = [...chain('a', 'b', 'more'), { from: 'more', to: 'a', on: 'true' }]
    const run = await tried({ steps: [effect('a', { maxVisits: 3 }), effect('b'), more], edges }, { to: 'b' })
    expect(callsOf(run.runId)).toEqual(['a', 'b'])
  })

  it('in the branch of a list, ends every item there, and nothing follows the list', async () => {
    const each = { id: 'each', type: 'for-each', items: [1, 2] }
    const definition = {
      steps: [each, effect('b'), effect('c'), effect('after')],
      edges: [{ from: 'each', to: 'b', on: 'each' }, ...chain('b', 'c'), { from: 'each', to: 'after', on: 'done' }],
    }
    const inside = await tried(definition, { to: 'b' })
    expect(inside.status).toBe('completed')
    expect(callsOf(inside.runId)).toEqual(['b', 'b'])
    const whole = await tried(definition, { to: 'each' })
    expect(callsOf(whole.runId).toSorted()).toEqual(['b', 'b', 'c', 'c'])
  })

  it('in one of several branches, runs those beside it too', async () => {
    const fork = { id: 'fork', type: 'parallel', branches: [{ id: 'left' }, { id: 'right' }] }
    const definition = {
      steps: [fork, effect('l1'), effect('l2'), effect('r1'), effect('r2'), effect('after')],
      edges: [
        { from: 'fork', to: 'l1', on: 'left' },
        { from: 'fork', to: 'r1', on: 'right' },
        ...chain('l1', 'l2'),
        ...chain('r1', 'r2'),
        { from: 'fork', to: 'after', on: 'done' },
      ],
    }
    const run = await tried(definition, { to: 'l1' })
    expect(callsOf(run.runId).toSorted()).toEqual(['l1', 'r1', 'r2'])
  })

  it('fails without the failure path, and stops without the cleanup path', async () => {
    healthy = false
    const definition = {
      steps: [effect('moody'), effect('b'), effect('sorry'), effect('undo')],
      edges: chain('moody', 'b'),
      onFailure: 'sorry',
      onCancel: 'undo',
    }
    const failed = await tried(definition, { to: 'b' })
    expect(failed).toMatchObject({ status: 'failed', outcome: 'failed', error: { stepId: 'moody' } })
    expect(callsOf(failed.runId)).toEqual(['moody'])
    healthy = true
    const asks = { id: 'moody', type: 'collect-inputs', output: { n: { type: 'number' } } }
    const waiting = { ...definition, steps: [asks, ...definition.steps.slice(1)] }
    const runId = await begin(await saved(waiting), { to: 'b' })
    await runtime.wait(runId, ({ status }) => status === 'paused')
    await cancelRun(runtime.ctx, { runId })
    expect(await runtime.wait(runId)).toMatchObject({ outcome: 'cancelled' })
    expect(callsOf(runId)).toEqual([])
  })

  it('is refused where no path leads, and without the right to edit', async () => {
    const workflowId = await saved({ steps: [effect('a'), effect('loose')], edges: [] })
    await expect(begin(workflowId, { to: 'loose' })).rejects.toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
    await expect(begin(workflowId, { to: 'none' })).rejects.toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
    await expect(begin(workflowId, { to: 'a' }, {}, await runtime.as('operator'))).rejects.toThrow(
      expect.objectContaining({ code: 'FORBIDDEN' }),
    )
  })
})

describe('a run of one step', () => {
  const definition = () => ({
    payload: { n: { type: 'number' } },
    steps: [effect('a'), effect('moody', { body: { n: '${n}', before: '${a.said}' } }), effect('c')],
    edges: chain('a', 'moody', 'c'),
  })

  it('performs it alone, with the data it is given', async () => {
    const run = await tried(definition(), { only: 'moody' }, { n: 7, a: { said: 'pinned' } })
    expect(run).toMatchObject({ status: 'completed', data: { n: 7, moody: { said: 'moody' } } })
    expect(callsOf(run.runId)).toEqual(['moody'])
    expect(effects.seen.findLast(({ key }) => key.startsWith(run.runId))?.body).toEqual({ n: 7, before: 'pinned' })
    expect(await readOutputs(runtime.ctx, { runId: run.runId })).toEqual({ moody: '{"said":"moody"}' })
  })

  it('performs a step that forks with its branches, and a step of a branch by itself, whichever steps give them values', async () => {
    const each = { id: 'each', type: 'for-each', items: '${list}' }
    const list = {
      steps: [each, effect('b', { body: { item: '${item}' } }), effect('after')],
      edges: [
        { from: 'each', to: 'b', on: 'each' },
        { from: 'each', to: 'after', on: 'done' },
      ],
    }
    expect(callsOf((await tried(list, { only: 'each' }, { list: [1, 2] })).runId)).toEqual(['b', 'b'])
    const inside = await tried(list, { only: 'b' }, { item: 5 })
    expect(effects.seen.findLast(({ key }) => key.startsWith(inside.runId))?.body).toEqual({ item: 5 })
  })

  it('is repeated in the same way: retried, rerun, and rerun with other data', async () => {
    healthy = false
    const workflowId = await saved(definition())
    const runId = await begin(workflowId, { only: 'moody' }, { n: 1, a: { said: 'x' } })
    expect((await runtime.wait(runId)).status).toBe('failed')
    healthy = true
    const again = [
      await retryRun(runtime.ctx, { runId }),
      await rerunRun(runtime.ctx, { runId, body: {} }),
      await rerunRun(runtime.ctx, { runId, body: { fromStepId: 'moody' } }),
      await rerunRun(runtime.ctx, { runId, body: { data: { n: 2, a: { said: 'y' } } } }),
    ]
    for (const one of again) {
      expect(await runtime.wait(one.runId)).toMatchObject({ status: 'completed' })
      expect((await getRunOverview(runtime.ctx, one)).part).toEqual({ only: 'moody', stepName: 'moody' })
      expect(callsOf(one.runId)).toEqual(['moody'])
    }
    const { runId: last } = again.at(-1) ?? { runId: '' }
    expect(effects.seen.findLast(({ key }) => key.startsWith(last))?.body).toEqual({ n: 2, before: 'y' })
  })
})

describe('the values that a step had', () => {
  const read = (workflowId: string, stepId: string, ...names: string[]) =>
    readStepValues(runtime.ctx, { workflowId, stepId, names })

  it('are those before it, in the newest run that came to it', async () => {
    const workflowId = await saved({
      payload: { n: { type: 'number' } },
      steps: [effect('a', { saveAs: undefined }), effect('b', { saveAs: 'said' }), effect('c')],
      edges: chain('a', 'b', 'c'),
    })
    expect(await read(workflowId, 'b', 'n')).toEqual({ run: null, values: {}, leftOut: [] })
    const { runId } = await startRun(runtime.ctx, { workflowId, body: { n: 4 } })
    await runtime.wait(runId)
    await runtime.wait(await begin(workflowId, { to: 'a' }, { n: 5 }))
    await runtime.wait(await begin(workflowId, { only: 'b' }, { n: 6 }))
    const found = await read(workflowId, 'b', 'n', 'said', 'a', 'none')
    expect(found).toMatchObject({ run: { id: runId }, leftOut: [] })
    expect(found.values).toEqual({ n: 4, said: 'a', a: { said: 'a' } })
    expect((await read(workflowId, 'c', '_')).values).toEqual({ n: 4, said: { said: 'b' } })
    expect((await read(workflowId, 'a', 'n')).values).toEqual({ n: 5 })
  })

  it('in a run that did not come to the step, are those at its end, if any run will do', async () => {
    const workflowId = await saved({
      payload: { n: { type: 'number' } },
      steps: [effect('a', { saveAs: undefined }), effect('b', { saveAs: 'said' })],
      edges: chain('a', 'b'),
    })
    const { runId } = await startRun(runtime.ctx, { workflowId, body: { n: 4 } })
    await runtime.wait(runId)
    const later = await begin(workflowId, { to: 'a' }, { n: 5 })
    await runtime.wait(later)
    const readAny = (stepId: string, body: { runId?: string; anyRun?: boolean }) =>
      readStepValues(runtime.ctx, { workflowId, stepId, names: ['n', 'said', 'a', 'b'], ...body })
    const ended = { n: 4, a: { said: 'a' }, said: { said: 'b' }, b: { said: 'b' } }
    expect(await readAny('new', {})).toMatchObject({ run: null })
    expect(await readAny('new', { anyRun: true })).toMatchObject({
      run: { id: later, reached: false },
      values: { n: 5, a: { said: 'a' } },
    })
    expect(await readAny('new', { anyRun: true, runId })).toEqual({
      run: expect.objectContaining({ id: runId, reached: false }),
      values: ended,
      leftOut: [],
    })
    expect(await readAny('b', { runId: later })).toMatchObject({ run: null })
    expect(await readAny('b', { runId, anyRun: true })).toMatchObject({ run: { reached: true }, values: { n: 4 } })
    const other = await saved({ steps: [effect('a')] })
    const foreign = readStepValues(runtime.ctx, { workflowId: other, stepId: 'a', names: ['n'], runId, anyRun: true })
    expect(await foreign).toMatchObject({ run: null, values: {} })
  })

  it('in a branch, are those of its item', async () => {
    const workflowId = await saved({
      payload: { list: { type: 'array' } },
      steps: [
        { id: 'each', type: 'for-each', items: '${list}', concurrency: 1 },
        effect('b'),
        effect('c', { body: { item: '${item}' } }),
      ],
      edges: [{ from: 'each', to: 'b', on: 'each' }, ...chain('b', 'c')],
    })
    await runtime.wait((await startRun(runtime.ctx, { workflowId, body: { list: ['x', 'y'] } })).runId)
    expect((await read(workflowId, 'c', 'item', 'b', 'c', 'list')).values).toEqual({
      item: 'y',
      b: { said: 'b' },
      list: ['x', 'y'],
    })
  })
})
