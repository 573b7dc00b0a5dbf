import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { expectInvariants } from '../support/invariants/check'
import { forge } from '../support/invariants/finality'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { bothWays } from './gap'

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

const ask = { id: 'ask', type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] }
const END = { id: 'end', type: 'end-flow', output: { doubled: '${n}' } }

/** A published workflow. */
async function workflow(definition: object): Promise<string> {
  const { createWorkflow, publishWorkflow } = await import('@/server/workflows/lifecycle')
  const { id } = await createWorkflow(runtime.ctx, { name: 'Child', edges: [], ...definition })
  await publishWorkflow(runtime.ctx, { id })
  return id
}

const runs = (workflowId: string, more: object = {}) => ({ id: 'sub', type: 'run-workflow', workflowId, ...more })

async function childOf(runId: string): Promise<string> {
  let found = ''
  await expect
    .poll(async () => {
      const rows = await database.sql`select id from runs where parent_run_id = ${runId}`
      found = rows[0]?.id ?? ''
      return found
    })
    .not.toBe('')
  return found
}

/** A server that answers effects once released. */
async function holdEffects() {
  let release = () => {}
  const after = new Promise<void>((done) => {
    release = done
  })
  let reach = () => {}
  const reached = new Promise<void>((done) => {
    reach = done
  })
  const { url, stop } = await startEffects(() => {
    reach()
    return { after, body: {} }
  })
  return { url, stop, reached, release: () => release() }
}

async function answer(runId: string) {
  const { resumeRun } = await import('@/server/runs/resume')
  await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'go' } })
}

describe('a step that runs a workflow', () => {
  test('gives it its input, waits for its end, and continues with its result', async () => {
    await bothWays(async () => {
      const payload = { n: { type: 'number' } }
      const child = await workflow({ payload, steps: [ask, END], edges: [{ from: 'ask', to: 'end' }] })
      const runId = await runtime.start({ steps: [runs(child, { input: { n: 4 }, saveAs: 'got' })] })
      const childId = await childOf(runId)
      await runtime.wait(childId, ({ status }) => status === 'paused')
      expect(await runtime.status(runId)).toMatchObject({ status: 'running', pauseSignals: [], currentStepId: 'sub' })
      await expectInvariants(database.sql)
      await answer(childId)
      const run = await runtime.wait(runId)
      expect(run).toMatchObject({ status: 'completed', data: { got: { doubled: 4 } } })
      expect(run.stepExecutionHistory[0]).toMatchObject({
        ...{ stepId: 'sub', status: 'completed', outputData: { doubled: 4 } },
        inputData: { workflowId: child, input: { n: 4 }, runId: childId },
      })
    })
  })

  test('may end with its start, and its result may be any value', async () => {
    const child = await workflow({ steps: [{ id: 'end', type: 'set-data', values: { a: 1 } }] })
    const runId = await runtime.start({ steps: [runs(child)] })
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', data: { a: 1 } })
  })

  test.each([
    ['fails', { id: 'no', type: 'fail-flow', code: 'OUT_OF_STOCK', message: 'No 5' }, 'OUT_OF_STOCK: No 5'],
    ['gets no answer in time', { ...ask, expiresIn: 'PT0.2S' }, 'TIMED_OUT: Nobody answered in time.'],
  ])('fails when that run %s, with its reason, unless an edge catches it', async (_how, step, reason) => {
    await bothWays(async () => {
      const child = await workflow({ name: 'Stock', steps: [step] })
      const failed = await runtime.wait(await runtime.start({ steps: [runs(child)] }))
      expect(failed).toMatchObject({ status: 'failed', error: { code: 'CHILD_FAILED', stepId: 'sub' } })
      expect(failed.error?.message).toMatch(`The run of Stock failed: `)
      expect(failed.error?.message).toContain(reason)
      const caught = await runtime.start({
        steps: [runs(child), { id: 'plan-b', type: 'set-data', values: { code: '${error.code}' } }],
        edges: [{ from: 'sub', to: 'plan-b', on: 'error' }],
      })
      expect(await runtime.wait(caught)).toMatchObject({ status: 'completed', data: { code: 'CHILD_FAILED' } })
    })
  })

  test('fails when its run cannot start, and starts none', async () => {
    const { archiveWorkflow } = await import('@/server/workflows/lifecycle')
    const child = await workflow({ payload: { n: { type: 'number' } }, steps: [END] })
    const archived = await workflow({ steps: [{ id: 'end', type: 'end-flow', output: {} }] })
    await archiveWorkflow(runtime.ctx, { id: archived })
    for (const [wf, input, code, words] of [
      ['wf_none', {}, 'WORKFLOW_NOT_FOUND', ''],
      [archived, {}, 'WORKFLOW_ARCHIVED', ''],
      [child, {}, 'INVALID_INPUT', 'n is required'],
      [child, { n: 'four' }, 'INVALID_INPUT', 'n must be a number'],
    ] as const) {
      const payload = { wf: { type: 'string' } }
      const runId = await runtime.start({ payload, steps: [runs('${wf}', { input })] }, { wf })
      const ended = await runtime.wait(runId)
      expect(ended.error).toMatchObject({ code, stepId: 'sub' })
      expect(ended.error?.message).toContain(words)
      expect(await database.sql`select id from runs where parent_run_id = ${runId}`).toHaveLength(0)
    }
  })
})

describe('publishing a workflow that runs another', () => {
  test('needs one that exists and is not archived, and warns about input that it would refuse', async () => {
    const { archiveWorkflow, publishWorkflow, createWorkflow } = await import('@/server/workflows/lifecycle')
    const child = await workflow({ name: 'Kid', payload: { n: { type: 'number' }, m: { type: 'any' } }, steps: [END] })
    const definition = (step: object) => ({ name: 'P', payload: { x: { type: 'any' } }, edges: [], steps: [step] })
    const publish = async (workflowId: string, input: object) => {
      const { id } = await createWorkflow(runtime.ctx, definition(runs(workflowId, { input })))
      const { warnings } = await publishWorkflow(runtime.ctx, { id })
      return warnings.filter(({ code }) => code === 'W_WORKFLOW_INPUT')
    }
    expect(await publish(child, { n: 1, m: '${x}' })).toEqual([])
    expect(await publish(child, { n: 'one', k: 1 })).toMatchObject([
      { field: 'input.m', fault: 'missing', message: 'The workflow Kid needs input.m.' },
      { field: 'input.k', fault: 'unknown', suggestion: 'm' },
      { field: 'input.n', fault: 'wrong' },
    ])
    await archiveWorkflow(runtime.ctx, { id: child })
    for (const gone of [child, 'wf_none'])
      await expect(publish(gone, {})).rejects.toMatchObject({ details: [{ code: 'WORKFLOW_NOT_FOUND' }] })
  })
})

describe('stopping a run', () => {
  /** A run whose step runs a workflow whose step runs another, which waits for a person. */
  async function family(more: object = {}) {
    const inner = await workflow({
      name: 'Inner',
      steps: [ask, { id: 'undo', type: 'set-data', values: { undone: true } }],
      onCancel: 'undo',
    })
    const middle = await workflow({ name: 'Middle', steps: [runs(inner)] })
    const top = await runtime.start({ steps: [runs(middle)], ...more })
    const middleRun = await childOf(top)
    const innerRun = await childOf(middleRun)
    await runtime.wait(innerRun, ({ status }) => status === 'paused')
    return { top, middleRun, innerRun }
  }

  test('cancels all its child runs, each with its cleanup', async () => {
    await bothWays(async () => {
      const { cancelRun } = await import('@/server/runs/cancel')
      const { top, middleRun, innerRun } = await family()
      expect(await cancelRun(runtime.ctx, { runId: top })).toMatchObject({ outcome: 'cancelled' })
      expect(await runtime.wait(middleRun)).toMatchObject({ outcome: 'cancelled' })
      const inner = await runtime.wait(innerRun)
      expect(inner).toMatchObject({ outcome: 'cancelled', data: { undone: true } })
      expect(inner.cancellation?.reason).toContain('Middle')
    })
  })

  test('terminates all that lie in it at once', async () => {
    const { terminateRun } = await import('@/server/runs/terminate')
    const { top, middleRun, innerRun } = await family()
    await terminateRun(runtime.ctx, { runId: top })
    expect(await runtime.wait(middleRun)).toMatchObject({ outcome: 'terminated' })
    expect(await runtime.wait(innerRun)).toMatchObject({ outcome: 'terminated', data: {} })
  })

  test('whose time is up stops them too', async () => {
    const { answerDue } = await import('@/server/interpreter/wait/due')
    const { top, middleRun, innerRun } = await family({ limits: { timeoutMs: 3_600_000 } })
    const now = () => new Date(Date.now() + 3_600_000)
    await answerDue({ db: runtime.db, log: runtime.ctx.log, now })
    expect(await runtime.wait(top)).toMatchObject({ outcome: 'timed_out' })
    expect(await runtime.wait(middleRun)).toMatchObject({ outcome: 'terminated' })
    expect(await runtime.wait(innerRun)).toMatchObject({ outcome: 'terminated' })
  })

  test('reaches a run in it at once, also while something else of it may still finish', async () => {
    await bothWays(async () => {
      const { cancelRun } = await import('@/server/runs/cancel')
      const held = await holdEffects()
      const child = await workflow({ name: 'Child', steps: [ask] })
      const runId = await runtime.start({
        steps: [
          { id: 'both', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] },
          { id: 'slow', type: 'test-effect', url: `${held.url}slow` },
          runs(child),
        ],
        edges: [
          { from: 'both', to: 'slow', on: 'a' },
          { from: 'both', to: 'sub', on: 'b' },
        ],
      })
      const childId = await childOf(runId)
      await runtime.wait(childId, ({ status }) => status === 'paused')
      await held.reached
      await cancelRun(runtime.ctx, { runId })
      expect(await runtime.wait(childId)).toMatchObject({ outcome: 'cancelled' })
      expect((await runtime.status(runId)).endTime).toBeUndefined()
      held.release()
      expect(await runtime.wait(runId)).toMatchObject({ outcome: 'cancelled' })
      await held.stop()
    })
  })

  test('that is asked to cancel starts none any more', async () => {
    const { settleChild } = await import('@/server/runs/children')
    const child = await workflow({ name: 'Late', steps: [ask] })
    const runId = await runtime.start({ steps: [runs(child)] })
    const childId = await childOf(runId)
    // As if its start were still due when it was cancelled.
    await forge(database.sql, [runId, childId])
    await database.sql`delete from runs where id = ${childId}`
    await database.sql`update pauses set child_state = 'due' where child_run_id = ${childId}`
    await database.sql`update runs set cancel_requested_at = now() where id = ${runId}`
    await settleChild(runtime.ctx, childId)
    expect(await database.sql`select id from runs where id = ${childId}`).toHaveLength(0)
    await database.sql`update runs set cancel_requested_at = null where id = ${runId}`
    await settleChild(runtime.ctx, childId)
    expect(await database.sql`select id from runs where id = ${childId}`).toHaveLength(1)
  })

  test('at once also ends a run in it that is still cleaning up after a cancel', async () => {
    const { cancelRun } = await import('@/server/runs/cancel')
    const { terminateRun } = await import('@/server/runs/terminate')
    const held = await holdEffects()
    const undo = { id: 'undo', type: 'test-effect', url: `${held.url}undo` }
    const child = await workflow({ name: 'Child', steps: [ask, undo], onCancel: 'undo' })
    const runId = await runtime.start({
      steps: [runs(child), { ...undo, id: 'undo-too' }],
      onCancel: 'undo-too',
    })
    const childId = await childOf(runId)
    await runtime.wait(childId, ({ status }) => status === 'paused')
    await cancelRun(runtime.ctx, { runId })
    await runtime.wait(childId, ({ currentStepId }) => currentStepId === 'undo')
    await terminateRun(runtime.ctx, { runId })
    expect(await runtime.wait(childId)).toMatchObject({ outcome: 'terminated' })
    held.release()
    await held.stop()
  })

  test('in the middle fails the step that waits for it', async () => {
    const { cancelRun } = await import('@/server/runs/cancel')
    const { top, middleRun, innerRun } = await family()
    await cancelRun(runtime.ctx, { runId: middleRun })
    expect((await runtime.wait(top)).error?.message).toBe('The run of Middle was cancelled')
    expect(await runtime.wait(innerRun)).toMatchObject({ outcome: 'cancelled' })
  })

  test('cancels the runs of branches that lose', async () => {
    const slow = await workflow({ name: 'Slow', steps: [ask] })
    const quick = await workflow({
      steps: [ask, { id: 'set', type: 'set-data', values: { q: 1 } }],
      edges: [{ from: 'ask', to: 'set' }],
    })
    const runId = await runtime.start({
      steps: [
        { id: 'race', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }], wait: 'any' },
        { ...runs(slow), id: 'slow', saveAs: 'slow' },
        { ...runs(quick), id: 'quick', saveAs: 'quick' },
      ],
      edges: [
        { from: 'race', to: 'slow', on: 'a' },
        { from: 'race', to: 'quick', on: 'b' },
      ],
    })
    const children = () => database.sql`select id, workflow_id from runs where parent_run_id = ${runId}`
    await expect.poll(children).toHaveLength(2)
    const wins = (await children()).find((run) => run.workflow_id === quick)?.id
    await runtime.wait(wins, ({ status }) => status === 'paused')
    await answer(wins)
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', data: { quick: { q: 1 } } })
    await expect
      .poll(() => database.sql`select outcome from runs where parent_run_id = ${runId} order by workflow_name`)
      .toMatchObject([{ outcome: 'succeeded' }, { outcome: 'cancelled' }])
  })
})

describe('runs in runs', () => {
  test('a workflow that runs itself ends at the tenth', async () => {
    const { createWorkflow, updateWorkflow } = await import('@/server/workflows/lifecycle')
    const { startRun } = await import('@/server/runs/start')
    const { id } = await createWorkflow(runtime.ctx, { name: 'Self', edges: [], steps: [ask] })
    await updateWorkflow(runtime.ctx, { id, body: { name: 'Self', edges: [], initialStep: 'sub', steps: [runs(id)] } })
    const { runId } = await startRun(runtime.ctx, { workflowId: id, body: {} })
    const run = await runtime.wait(runId)
    expect(run.error?.message).toContain('at most 10 levels deep')
    expect(await database.sql`select depth from runs where workflow_id = ${id} order by depth`).toHaveLength(11)
  })

  test('do not fail because the workflow is published meanwhile', async () => {
    const { publishWorkflow, updateWorkflow } = await import('@/server/workflows/lifecycle')
    const payload = { n: { type: 'number' } }
    const child = await workflow({ payload, steps: [END] })
    const runId = await runtime.start({
      steps: [
        { id: 'all', type: 'for-each', items: Array.from({ length: 40 }, (_, n) => n), concurrency: 10 },
        runs(child, { input: { n: '${item}' } }),
      ],
      edges: [{ from: 'all', to: 'sub', on: 'each' }],
    })
    let publishing = true
    const publish = (async () => {
      for (let n = 0; publishing; n++) {
        await updateWorkflow(runtime.ctx, { id: child, body: { description: `${n}` } })
        await publishWorkflow(runtime.ctx, { id: child })
      }
    })()
    const run = await runtime.wait(runId)
    publishing = false
    await publish
    expect(run).toMatchObject({ status: 'completed', error: null })
  })

  test('one for each item, and the results come in order', async () => {
    const payload = { n: { type: 'number' } }
    const child = await workflow({ payload, steps: [END] })
    const runId = await runtime.start({
      steps: [
        { id: 'set', type: 'set-data', values: { ns: [3, 1, 2] } },
        { id: 'all', type: 'for-each', items: '${ns}', concurrency: 3, result: '${sub.doubled}', saveAs: 'out' },
        runs(child, { input: { n: '${item}' } }),
      ],
      edges: [
        { from: 'set', to: 'all' },
        { from: 'all', to: 'sub', on: 'each' },
      ],
    })
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', data: { out: { results: [3, 1, 2] } } })
  })

  test('an event that comes twice, or never, starts one run and gives one answer', async () => {
    const { settleChild, sweepChildren } = await import('@/server/runs/children')
    const { systemContext } = await import('@/server/context')
    const { log } = await import('@/server/log')
    const child = await workflow({ steps: [ask] })
    const ctx = systemContext({ tenantId: runtime.ctx.tenantId, db: runtime.db, log: log() })
    const later = { db: runtime.db, log: log(), now: () => new Date(Date.now() + 10_000) }
    const runId = await runtime.start({ steps: [runs(child)] })
    const childId = await childOf(runId)
    await runtime.wait(childId, ({ status }) => status === 'paused')
    await Promise.all(Array.from({ length: 8 }, () => settleChild(ctx, childId)))
    await sweepChildren(later)
    expect(await database.sql`select id from runs where parent_run_id = ${runId}`).toHaveLength(1)
    expect((await runtime.status(runId)).status).toBe('running')
    await answer(childId)
    await runtime.wait(childId)
    await Promise.all([...Array.from({ length: 8 }, () => settleChild(ctx, childId)), sweepChildren(later)])
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
  })
})
