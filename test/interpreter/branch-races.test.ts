import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
let effects: EffectServer
/** Until when the outside world does not answer. */
let held: Promise<void> | undefined
beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(() => ({ delayMs: 300, ...(held ? { after: held } : {}) }))
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await effects.stop()
  await database.close()
})

const ask = { id: 'ask', type: 'request-user-action', actions: [{ id: 'yes', label: 'Yes' }] }
const effect = (id: string) => ({ id, type: 'test-effect', url: effects.url, body: { id } })
const split = (...ids: string[]) => ({ id: 'split', type: 'parallel', branches: ids.map((id) => ({ id })) })
const on = (from: string, exit: string, to: string) => ({ from, to, on: exit })

async function reached(count: number): Promise<void> {
  await expect.poll(() => effects.seen.length).toBeGreaterThanOrEqual(count)
}

async function answer(runId: string): Promise<void> {
  const { resumeRun } = await import('@/server/runs/resume')
  await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'yes' } })
}

test('an attempt that was taken over changes nothing of its walk, in a branch or before a pause', async () => {
  let release = () => {}
  for (const definition of [
    { steps: [effect('work'), ask], edges: [{ from: 'work', to: 'ask' }] },
    { steps: [split('a'), effect('work')], edges: [on('split', 'a', 'work')] },
  ]) {
    effects.seen.length = 0
    held = new Promise((done) => {
      release = done
    })
    const runId = await runtime.start(definition)
    await reached(1)
    // The state that another process's claim leaves, which the same engine run has called again.
    await database.sql`update step_records set attempt = 2 where run_id = ${runId} and step_id = 'work'`
    release()
    await new Promise((resolve) => setTimeout(resolve, 700))
    const walks = await database.sql`
      select status, arrival from walks where run_id = ${runId} and status <> 'waiting'`
    expect([...walks]).toEqual([{ status: 'walking', arrival: null }])
    // The attempt that counts continues the run to its end.
    const paused = ({ status, endTime }: { status: string; endTime?: string }) =>
      status === 'paused' || endTime !== undefined
    if ((await runtime.wait(runId, paused)).status === 'paused') await answer(runId)
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
  }
})

test('a rewake leaves walks alone that wait for their turn, or for their branches', async () => {
  const { rewakeRun } = await import('@/server/runs/rewake')
  const runId = await runtime.start(
    {
      payload: { list: { type: 'array' } },
      steps: [{ id: 'each', type: 'for-each', items: '${list}' }, ask],
      edges: [on('each', 'each', 'ask')],
    },
    { list: [1, 2, 3] },
  )
  for (let item = 0; item < 3; item++) {
    const open = await runtime.wait(runId, ({ pauseSignals }) => pauseSignals[0]?.iteration?.[0] === item)
    expect(open.pauseSignals).toHaveLength(1)
    if (item === 0) {
      await rewakeRun(runtime.ctx, { runId })
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect((await runtime.status(runId)).pauseSignals).toHaveLength(1)
    }
    await answer(runId)
  }
  expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
})

test('a fork that is called again after its last branch ended continues', async () => {
  const { forkWalk } = await import('@/server/interpreter/fork/fork')
  const runId = await runtime.start({ steps: [split('a'), ask], edges: [on('split', 'a', 'ask')] })
  await runtime.wait(runId, ({ pauseSignals }) => pauseSignals.length === 1)
  await database.sql`
    update walks set status = 'walking', epoch = 2, engine_run_id = 'er_again' where run_id = ${runId} and branch = 'main'`
  await answer(runId)
  await expect
    .poll(async () => (await database.sql`select state from scopes where run_id = ${runId}`)[0]?.state)
    .toBe('done')
  const ref = { tenantId: runtime.ctx.tenantId, runId, branch: 'main', epoch: 2, segment: 1, engineRunId: 'er_again' }
  expect(await forkWalk(runtime.ctx, ref, { stepId: 'split', visit: 1 })).toEqual({ stop: 'handed-over' })
  expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
})

test('an answer that is too large together with its branch’s writes is refused, and the run keeps waiting', async () => {
  const { resumeRun } = await import('@/server/runs/resume')
  const form = { id: 'form', type: 'collect-inputs', output: { text: { type: 'string' } } }
  const runId = await runtime.start({ steps: [split('a'), form], edges: [on('split', 'a', 'form')] })
  await runtime.wait(runId, ({ pauseSignals }) => pauseSignals.length === 1)
  await database.sql`
    update walks set data = jsonb_build_object('one', repeat('z', 8000000)) where run_id = ${runId} and branch <> 'main'`
  const give = (text: string) => resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { text } } })
  await expect(give('x'.repeat(500_000))).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await database.sql`update walks set data = '{}' where run_id = ${runId} and branch <> 'main'`
  await give('x')
  expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', data: { text: 'x' } })
})

test('a locked run does not delay any other', async () => {
  const { createWorkflow } = await import('@/server/workflows/lifecycle')
  const { startRun } = await import('@/server/runs/start')
  const { id } = await createWorkflow(runtime.ctx, { name: 'Other', steps: [{ id: 's', type: 'end-flow' }] } as never)
  const branches = ['a', 'b', 'c', 'd', 'e', 'f']
  effects.seen.length = 0
  const runId = await runtime.start({
    steps: [split(...branches), ...branches.map((branch) => effect(`work_${branch}`))],
    edges: branches.map((branch) => on('split', branch, `work_${branch}`)),
  })
  await reached(branches.length)
  await database.sql.begin(async (sql) => {
    await sql`select 1 from runs where id = ${runId} for update`
    // By now every branch has a result to record.
    await new Promise((resolve) => setTimeout(resolve, 600))
    // With the lock held until this is answered, a blocked call would never end.
    await startRun(runtime.ctx, { workflowId: id, body: {} })
  })
  expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
})
