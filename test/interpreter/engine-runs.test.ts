import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startInngestRuntime } from '../support/inngest-runtime'
import { type InngestServer, startInngest } from '../support/platform/inngest'
import type { TestRuntime } from '../support/runtime'

/*
 * On the Inngest server that INNGEST_BASE_URL names, such as `inngest dev --no-discovery --no-poll --retry-interval 1
 * --tick 10`; without it, on one in this process that speaks the same protocol and has the same limits.
 */
const real = process.env.INNGEST_BASE_URL
/** Long enough for the server to process its refusal. */
const QUIET_MS = real ? 8_000 : 2_000

let database: FreshDatabase
let inngest: InngestServer | undefined
let runtime: TestRuntime
/** Runs whose engine run the server fails as soon as they wait. */
const unlucky = new Set<string>()

beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  inngest = real ? undefined : await startInngest()
  const { url = '', eventKey = '', signingKey = '' } = inngest ?? {}
  const keys = { INNGEST_BASE_URL: url, INNGEST_EVENT_KEY: eventKey, INNGEST_SIGNING_KEY: signingKey }
  runtime = await startInngestRuntime(database.url, inngest ? keys : {}, failing)
})
afterAll(async () => {
  await runtime?.stop()
  await inngest?.stop()
  await database?.close()
})

/** The server gets a refusal that it must not retry, once the call has opened the pause of an unlucky run. */
async function failing(answer: Response, call: string): Promise<Response> {
  const { runId, branch } = (call.startsWith('{') && JSON.parse(call).event?.data) || {}
  // The call of another branch may end after that.
  if (runId === undefined || !unlucky.has(runId) || !(await isWaiting(runId, branch))) return answer
  unlucky.delete(runId)
  return Response.json(
    { name: 'Error', message: 'too old' },
    { status: 400, headers: { 'x-inngest-no-retry': 'true' } },
  )
}

async function isWaiting(runId: string, branch: string | null = null): Promise<boolean> {
  const [row] = await database.sql`
    select 1 from pauses where run_id = ${runId} and answered_at is null and branch = coalesce(${branch}, branch)`
  return row !== undefined
}

async function until(settled: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000
  while (!(await settled())) {
    if (Date.now() > end) throw new Error('It has not happened.')
    await sleep(50)
  }
}

const ask = (more: object = {}) => ({ id: 'ask', type: 'collect-inputs', output: { ok: { type: 'string' } }, ...more })
const event = (more: object = {}) => ({ id: 'event', type: 'wait-for-event', event: 'paid', ...more })
const end = { id: 'end', type: 'end-flow', output: { done: true } }
const flow = (...steps: { id: string }[]) => ({
  steps: [...steps, end],
  edges: steps.map(({ id }, i) => ({ from: id, to: steps[i + 1]?.id ?? 'end' })),
})

async function answer(runId: string): Promise<void> {
  const { resumeRun } = await import('@/server/runs/resume')
  await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { ok: 'yes' } } })
}

async function post(key: string): Promise<void> {
  const { postEvent } = await import('@/server/events/post')
  await postEvent(runtime.ctx, { name: 'paid', key })
}

const kind = real ? `a real Inngest server (${real})` : 'an Inngest server (a stand-in: INNGEST_BASE_URL is not set)'

describe.concurrent(`on ${kind}`, { timeout: 120_000 }, () => {
  describe('a wait for longer than the server allows continues', () => {
    test('for a person', async () => {
      const runId = await runtime.start(flow(ask({ expiresIn: 'P10Y' })))
      await until(() => isWaiting(runId))
      await sleep(QUIET_MS)
      expect(await runtime.status(runId)).toMatchObject({ status: 'paused' })
      await answer(runId)
      expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
    })

    test('for an event', async () => {
      const runId = await runtime.start(flow(event({ key: 'order 1', expiresIn: 'P2Y' })))
      await until(() => isWaiting(runId))
      await sleep(QUIET_MS)
      expect(await runtime.status(runId)).toMatchObject({ status: 'running' })
      await post('order 1')
      expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
    })

    test('for a time', async () => {
      const runId = await runtime.start(flow({ id: 'delay', type: 'delay', for: 'P400D' } as never))
      await until(() => isWaiting(runId))
      await sleep(QUIET_MS)
      expect(await runtime.status(runId)).toMatchObject({ status: 'running' })
      await comeDue(runId)
      expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
    })
  })

  describe('an engine run that fails while it waits leaves its run unchanged, which continues', () => {
    test('with the answer of a person', async () => {
      const runId = await orphan(flow(ask()))
      expect(await runtime.status(runId)).toMatchObject({ status: 'paused' })
      await answer(runId)
      expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
    })

    test('with its event', async () => {
      const runId = await orphan(flow(event({ key: 'order 2' })))
      await post('order 2')
      expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
    })

    test('when its time has come', async () => {
      const runId = await orphan(flow({ id: 'delay', type: 'delay', for: 'P30D' } as never))
      await comeDue(runId)
      expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
    })

    test('in a branch', async () => {
      const runId = await orphan({
        steps: [{ id: 'fork', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] }, ask(), set, end],
        edges: [
          { from: 'fork', to: 'ask', on: 'a' },
          { from: 'fork', to: 'set', on: 'b' },
          { from: 'fork', to: 'end', on: 'done' },
        ],
      })
      await answer(runId)
      expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
    })
  })
})

const set = { id: 'set', type: 'set-data', values: { set: true } }

/** A run whose engine run the server has failed while it waits. */
async function orphan(definition: object): Promise<string> {
  const { createWorkflow } = await import('@/server/workflows/lifecycle')
  const { startRun } = await import('@/server/runs/start')
  const { id } = await createWorkflow(runtime.ctx, { name: 'W', ...definition })
  const { runId } = await startRun(runtime.ctx, { workflowId: id, body: {} })
  unlucky.add(runId)
  await until(async () => (await isWaiting(runId)) && !unlucky.has(runId))
  await until(async () => {
    const [walk] = await database.sql`
      select 1 from walks w join runs r on r.tenant_id = w.tenant_id and r.id = w.run_id
      where w.run_id = ${runId} and (w.status = 'resting' or r.end_time is not null)`
    return walk !== undefined
  })
  return runId
}

/** The time of a run's pause has come. */
async function comeDue(runId: string): Promise<void> {
  await database.sql`update pauses set due_at = now() where run_id = ${runId}`
  const { answerDue } = await import('@/server/interpreter/wait/due')
  const { now } = await import('@/server/clock')
  await answerDue({ db: runtime.db, log: runtime.ctx.log, now })
}
