import { afterAll, beforeAll, expect, test } from 'vitest'
import { database as processDatabase } from '@/server/database'
import { expectChange } from '@/server/interpreter/notice/watch'
import { forget, recallPause, recallRun } from '@/server/interpreter/recall/run'
import { cancelRun } from '@/server/runs/cancel'
import type { PresentedRun } from '@/server/runs/present'
import { resumeRun } from '@/server/runs/resume'
import { startAndWait } from '@/server/runs/start-and-wait'
import { getRunStatus } from '@/server/runs/status'
import { setVaultSecret } from '@/server/vault/set'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { Dice, definitionOf, randomGraph } from '../graphs/generate'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// A caller that waits for a run is answered from what its process wrote, and so is a caller that answers a pause and
// then reads the status. Both must equal, byte for byte, the result of a read.

let database: FreshDatabase
let runtime: TestRuntime
let effects: EffectServer
/** The reads of whole runs so far. */
let reads = 0
/** The reads of open pauses so far. */
let pauseReads = 0
/** How often the next calls of `/flaky` fail. */
let failing = 0

beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  effects = await startEffects(({ path }) => {
    if (path === '/flaky' && failing-- > 0) return { status: 503 }
    if (path === '/odd') return { body: { zz: { bb: 1, a: [{ yy: null, x: 1e21 }] }, '10': -0, é: '𝒳', a: 0.1 } }
    return path === '/secret' ? { body: { said: 'it is sesame-open-1234, no more' } } : { status: 422 }
  })
  runtime = await startTestRuntime(database.url)
  const { sql } = processDatabase()
  Object.assign(sql.options, {
    debug(_connection: number, text: string) {
      reads += text.includes('"weight"') ? 1 : 0
      pauseReads += text.includes('row_number() over (order by "pauses"') ? 1 : 0
    },
  })
  await setVaultSecret(runtime.ctx, { name: 'DOOR', value: 'sesame-open-1234', hosts: ['example.com'] })
})
afterAll(async () => {
  await runtime.stop()
  await effects.stop()
  await database.close()
}, 900_000)

/** The response to a start's caller, and whether it needed no read. */
async function told(definition: object, body: object = {}): Promise<{ run: PresentedRun; remembered: boolean }> {
  const { id } = await createWorkflow(runtime.ctx, { name: 'Told', ...definition })
  const before = reads
  const { run } = await startAndWait(runtime.ctx, {
    workflowId: id,
    body,
    prefer: 'wait=20',
    signal: new AbortController().signal,
  })
  return { run, remembered: reads === before }
}

async function expectAsRead(run: PresentedRun): Promise<void> {
  expect(JSON.stringify(run)).toBe(JSON.stringify(await getRunStatus(runtime.ctx, { runId: run.runId })))
}

const call = (id: string, path: string, more: object = {}) => ({
  id,
  type: 'test-effect',
  url: effects.url + path,
  ...more,
})
const line = (...steps: { id: string }[]) => ({
  steps,
  edges: steps.slice(1).map(({ id }, index) => ({ from: steps[index]?.id, to: id })),
})
const END = { id: 'end', type: 'end-flow', output: { zz: '${zz}', first: { b: 1, a: '${n}' } } }
const START = { payload: { n: { type: 'number' } } }

test.each([
  ['computes only', () => line({ id: 'set', type: 'set-data', values: { zz: { b: 2, a: '${n}' } } } as never, END)],
  ['calls others', () => line(call('a', 'odd'), call('b', 'odd', { saveAs: 'again' }), END)],
  [
    'has a name and a value of the vault in it',
    () => line(call('a', 'secret', { name: 'Say sesame-open-1234' }), call('b', 'odd'), END),
  ],
  ['fails', () => line(call('a', 'odd'), call('b', 'no'), END)],
  [
    'fails where it computes',
    () => line(call('a', 'odd'), { id: 'bad', type: 'set-data', compute: { x: '1 / 0' } } as never),
  ],
  [
    'goes on after a failure',
    () => ({
      steps: [call('a', 'no'), call('b', 'odd'), call('mend', 'odd')],
      edges: [
        { from: 'a', to: 'b' },
        { from: 'a', to: 'mend', on: 'error' },
      ],
    }),
  ],
  [
    'tries a step again',
    () => {
      failing = 1
      return line(call('a', 'flaky', { retry: { maxAttempts: 3, delayMs: 1 } }), call('b', 'odd'), END)
    },
  ],
])('a run that %s is answered from memory as a read would answer it', async (_what, definition) => {
  const once = async () => {
    const { run, remembered } = await told({ ...START, ...definition() }, { n: 1.5 })
    await expectAsRead(run)
    expect(JSON.stringify(run)).not.toContain('sesame-open-1234')
    // Another statement writes a step that fails for good, and with it the run.
    return remembered || run.error?.code === 'HTTP_ERROR'
  }
  // A process that is late rereads its cache; then another run is tried.
  await expect.poll(once).toBe(true)
})

test('random graphs are answered as a read would answer them, and nothing of them stays in memory', async () => {
  const total = rounds(60, 5_000)
  let [at, ended, fromMemory] = [0, 0, 0]
  const worker = async () => {
    while (at < total) {
      const graph = randomGraph(new Dice(7_000_003 + at++))
      const found = await told(definitionOf(graph, effects.url), { a: 1, b: 1, c: 1 }).catch(
        (err: { code?: string }) => {
          // It has an endless loop.
          expect(err.code).toBe('VALIDATION_FAILED')
          return null
        },
      )
      if (found?.run.status !== 'completed' && found?.run.status !== 'failed') continue
      await expectAsRead(found.run)
      expect(recallRun(found.run.runId)).toBeNull()
      ended++
      if (found.remembered) fromMemory++
    }
  }
  await worker()
  expect(ended).toBeGreaterThan(total * 0.2)
  expect(fromMemory).toBeGreaterThan(0)
})

const GO = { type: 'request_user_action', actionId: 'go', actionValue: 'go' }
const FIELDS = {
  type: 'collect_inputs',
  data: { zz: { bb: 'sesame-open-1234', a: [{ yy: null, x: 1e21 }], '10': -0, é: '𝒳' }, ccc: -0, b: '𝒳', a: 0.1 },
}
const STOP = { id: 'end', type: 'end-flow' }
const ask = (id = 'ask') => ({ id, type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] })
const collect = {
  id: 'ask',
  type: 'collect-inputs',
  output: { zz: { type: 'object' }, ccc: { type: 'number' }, b: { type: 'string' }, a: { type: 'number' } },
}

/** A run that waits at its pause, started without a waiting caller. */
async function paused(definition: object): Promise<string> {
  const runId = await runtime.start({ ...START, ...definition }, { n: 1.5 })
  await runtime.wait(runId, ({ status }) => status === 'paused')
  // A read may see this process's commit before its response arrives.
  await expect.poll(() => recallPause(runtime.ctx.tenantId, runId)).not.toBeNull()
  return runId
}

/**
 * Answers a run and reads its status immediately, which waits a moment for the end, or `patienceMs`.
 * @returns the status, and which of the two calls had to read
 */
async function answered(runId: string, body: object, patienceMs?: number) {
  const before = { reads, pauseReads }
  await resumeRun(runtime.ctx, { runId, body })
  if (patienceMs !== undefined) expectChange(runId, patienceMs)
  const read = pauseReads > before.pauseReads
  const run = await getRunStatus(runtime.ctx, { runId })
  return { run, remembered: { pause: !read, end: reads === before.reads } }
}

test.each([
  ['ends with the step that follows', () => line(ask(), call('b', 'odd'), END), GO],
  ['has done something before', () => line(call('a', 'odd'), ask(), call('b', 'secret'), END), GO],
  ['is told values', () => line(collect, call('b', 'odd', { body: { all: '${zz}', n: '${ccc}' } }), END), FIELDS],
  [
    'computes before and after',
    () => line({ id: 'set', type: 'set-data', values: { b: 1, a: '${n}' } } as never, ask(), call('b', 'odd'), END),
    GO,
  ],
  ['fails after its answer', () => line(ask(), { id: 'bad', type: 'set-data', compute: { x: '1 / 0' } } as never), GO],
  ['goes on for long', () => line(ask(), call('b', 'odd'), call('c', 'odd'), call('d', 'odd'), END), GO],
  ['asks again', () => line(ask(), call('b', 'odd'), ask('again'), END), GO],
  ['asks again at once', () => line(ask(), ask('again'), STOP), GO],
])('a run that %s is answered from memory, and goes on as one that was read', async (_what, definition, body) => {
  const runId = await paused(definition())
  const { run, remembered } = await answered(runId, body)
  expect(remembered.pause).toBe(true)
  expect(JSON.stringify(run)).not.toContain('sesame-open-1234')
  if (run.endTime) await expectAsRead(run)
  const end = await atItsEnd(runId)

  const other = await paused(definition())
  forget(other)
  expect((await answered(other, body)).remembered.pause).toBe(false)
  const read = await atItsEnd(other)
  expect(shape(end)).toEqual(shape(read))
  for (const id of [runId, other]) {
    expect(recallRun(id)).toBeNull()
    expect(recallPause(runtime.ctx.tenantId, id)).toBeNull()
  }
})

/** A run that has ended, after any further pauses. */
async function atItsEnd(runId: string): Promise<PresentedRun> {
  const run = await runtime.wait(runId, ({ status }) => status !== 'running')
  if (run.status !== 'paused') return run
  await resumeRun(runtime.ctx, { runId, body: GO })
  return atItsEnd(runId)
}

/** The common part of two runs of one definition. */
function shape({ status, outcome, data, result, error, stepExecutionHistory }: PresentedRun) {
  const steps = stepExecutionHistory.map(({ startTime: _s, endTime: _e, duration: _d, attempts: _a, ...step }) => step)
  return JSON.stringify({ status, outcome, data, result, error, steps }).replace(/step_[0-9a-z]+/g, '')
}

test('the status of a run that its answer ends soon is answered without a read', async () => {
  // A busy machine may take longer than a status waits, or end the run before the status call.
  await expect
    .poll(async () => {
      const { run, remembered } = await answered(await paused(line(ask(), call('b', 'odd'), END)), GO, 2_000)
      await expectAsRead(run)
      return remembered
    })
    .toEqual({ pause: true, end: true })
})

test('a question is not answered from memory once another process has moved the run on', async () => {
  const runId = await paused(line(ask(), STOP))
  // As by another process that takes the answer.
  await database.sql`update walks set segment = segment + 1 where run_id = ${runId}`
  const before = pauseReads
  await expect(resumeRun(runtime.ctx, { runId, body: { ...GO, actionId: 'none' } })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
  })
  expect(recallPause(runtime.ctx.tenantId, runId)).not.toBeNull()
  await resumeRun(runtime.ctx, { runId, body: GO })
  expect(pauseReads).toBeGreaterThan(before + 1)
  expect((await runtime.wait(runId)).status).toBe('completed')
})

test('of several who answer at once from memory, all but one learn that the run does not wait any more', async () => {
  const runId = await paused(line(ask(), call('b', 'odd'), END))
  const all = await Promise.allSettled([1, 2, 3].map(() => resumeRun(runtime.ctx, { runId, body: GO })))
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const one of all) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'RUN_NOT_PAUSED' })
  expect((await runtime.wait(runId)).stepExecutionHistory.filter(({ stepId }) => stepId === 'b')).toHaveLength(1)
})

test('a run that was cancelled while it waited is not answered from memory', async () => {
  const runId = await paused(line(ask(), STOP))
  await cancelRun(runtime.ctx, { runId, body: {} })
  await expect(resumeRun(runtime.ctx, { runId, body: GO })).rejects.toMatchObject({ code: 'RUN_NOT_PAUSED' })
})

test('the cache of a tenant’s run answers nobody else', async () => {
  const runId = await paused(line(ask(), call('b', 'odd'), END))
  const other = await runtime.as('owner', 'ten_other')
  await expect(resumeRun(other, { runId, body: GO })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  await resumeRun(runtime.ctx, { runId, body: GO })
  await expect(getRunStatus(other, { runId })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  expect((await runtime.wait(runId)).status).toBe('completed')
})

test('few runs that wait are remembered', async () => {
  const ids: string[] = []
  for (let count = 0; count < 20; count++) ids.push(await paused(line(ask(), STOP)))
  const kept = ids.filter((id) => recallPause(runtime.ctx.tenantId, id))
  expect(kept).toEqual(ids.slice(-16))
})
