import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { watchRun } from '@/server/interpreter/index'
import { listCalls } from '@/server/runs/calls'
import { openRunEvents, type RunEvent } from '@/server/runs/events'
import { resumeRun } from '@/server/runs/resume'
import { terminateRun } from '@/server/runs/terminate'
import { createTool } from '@/server/tools/lifecycle'
import { readCall, readStepCalls } from '@/server/views/runs/calls'
import { readTimeline } from '@/server/views/runs/timeline'
import { newAgent } from '../../agents/support'
import { until } from '../../engine/support'
import { type Outside, startOutside } from '../../net/outside'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { type ModelServer, startModelServer } from '../../support/model'
import { startTestRuntime, type TestRuntime } from '../../support/runtime'

const ANSWER = { text: '{"item":"chairs","amount":12}' }

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let outside: Outside
let tools: { stock: string; slow: string }
let agentId: string
/** A tool whose calls need a decision. */
let asked: string
let release = () => {}

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  model = await startModelServer()
  outside = await startOutside(async (_seen, response) => {
    await new Promise<void>((done) => {
      release = done
    })
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  runtime = await startTestRuntime(database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
  const { ctx } = runtime
  const http = { method: 'POST', url: `${outside.url}/slow` }
  const stock = { name: 'Look up stock', kind: 'script', config: { code: 'return { left: 3 }' } }
  tools = {
    stock: (await createTool(ctx, stock as never)).id,
    slow: (await createTool(ctx, { name: 'Order more', kind: 'http', config: http })).id,
  }
  const inputSchema = { type: 'object', properties: { article: { type: 'string' } } }
  const careful = { ...stock, name: 'Look up with care', inputSchema }
  asked = (await createTool(ctx, careful as never)).id
  agentId = (await newAgent(ctx, { tools: Object.values(tools) }, model)).id
})
afterAll(async () => {
  release()
  await model?.close()
  await runtime?.stop()
  await outside?.stop()
  await database?.close()
})

const definition = (of = agentId) => ({
  steps: [
    { id: 'ask', type: 'call-agent', agentId: of, message: 'x', retry: { maxAttempts: 1 } },
    { id: 'end', type: 'end-flow', output: {} },
  ],
  edges: [{ from: 'ask', to: 'end' }],
})
const seqOf = async (runId: string) => (await readTimeline(runtime.ctx, { runId })).rows[0]?.[0] ?? 0

test('a step lists its calls in order, by the names of tools, and each opens to what went in and came out', async () => {
  model.script({ calls: [{ name: tools.stock, args: { article: 'AX-210' } }] }, ANSWER)
  const runId = await runtime.start(definition())
  await runtime.wait(runId)
  const seq = await seqOf(runId)
  const { calls, waiting } = await readStepCalls(runtime.ctx, { runId, seq })
  expect(waiting).toEqual([])
  expect(calls).toMatchObject([
    { seq: 1, kind: 'model', title: 'm', tokens: { input: 10, output: 5 }, failed: false },
    { seq: 2, kind: 'tool', title: 'Look up stock', tokens: null, failed: false },
    { seq: 3, kind: 'model', title: 'm' },
  ])
  for (const { start, end } of calls) expect(end).toBeGreaterThanOrEqual(start)
  const { rows } = await readTimeline(runtime.ctx, { runId })
  expect(calls[0]?.start).toBeGreaterThanOrEqual(rows[0]?.[4] ?? Number.NaN)
  expect(calls.at(-1)?.end).toBeLessThanOrEqual(rows[0]?.[5] ?? Number.NaN)
  const tool = await readCall(runtime.ctx, { runId, seq, call: 2 })
  expect(tool).toMatchObject({ title: 'Look up stock', args: { text: expect.stringContaining('AX-210') } })
  expect(tool).toMatchObject({ result: { ok: true, output: { text: expect.stringContaining('"left": 3') } } })
  expect(await readCall(runtime.ctx, { runId, seq, call: 3 })).toMatchObject({ text: { text: ANSWER.text } })
  const missing = { code: 'RUN_NOT_FOUND' }
  await expect(readCall(runtime.ctx, { runId, seq, call: 4 })).rejects.toMatchObject(missing)
  await expect(readStepCalls(runtime.ctx, { runId, seq: seq + 99 })).rejects.toMatchObject(missing)
  const other = await runtime.as('owner', 'ten_other')
  await expect(readStepCalls(other, { runId, seq })).rejects.toMatchObject(missing)
  await expect(readCall(other, { runId, seq, call: 1 })).rejects.toMatchObject(missing)
})

test('failed calls say so: of tools, and of the model', async () => {
  model.script({ calls: [{ name: 'nothing', args: {} }] }, { text: 'no' }, { text: 'no' })
  const runId = await runtime.start(definition())
  await runtime.wait(runId)
  const seq = await seqOf(runId)
  expect((await readStepCalls(runtime.ctx, { runId, seq })).calls).toMatchObject([
    { kind: 'model', failed: false },
    { kind: 'tool', title: 'nothing', failed: true },
    { kind: 'model', failed: false },
    { kind: 'model', failed: true },
  ])
  expect(await readCall(runtime.ctx, { runId, seq, call: 2 })).toMatchObject({ result: { ok: false } })
  expect(await readCall(runtime.ctx, { runId, seq, call: 4 })).toMatchObject({ errorCode: 'OUTPUT_SCHEMA_MISMATCH' })
})

test('a call that needed a decision says what people decided, and with which arguments', async () => {
  const approval = { title: 'Look it up', editable: ['article'] }
  const { id } = await newAgent(runtime.ctx, { tools: [{ toolId: asked, version: 'latest', approval }] }, model)
  model.script({ calls: [{ name: asked, args: { article: 'AX-210' } }] }, ANSWER)
  const runId = await runtime.start(definition(id))
  await runtime.wait(runId, ({ status }) => status === 'paused')
  const seq = await seqOf(runId)
  expect(await readStepCalls(runtime.ctx, { runId, seq })).toMatchObject({
    calls: [{ kind: 'model' }],
    waiting: ['Look up with care'],
  })
  const body = { type: 'request_user_action', actionId: 'approve', data: { article: 'AX-211' }, remark: 'The new one.' }
  await resumeRun(runtime.ctx, { runId, body })
  await runtime.wait(runId)
  expect(await readCall(runtime.ctx, { runId, seq, call: 2 })).toMatchObject({
    args: { text: expect.stringContaining('AX-210') },
    decision: { approved: true, remark: 'The new one.', changed: { text: expect.stringContaining('AX-211') } },
  })
  const { calls } = await listCalls(runtime.ctx, runId, {})
  expect(calls[1]).toMatchObject({ decision: { approved: true, args: { article: 'AX-211' }, remark: 'The new one.' } })
  expect('decision' in (calls[0] ?? {})).toBe(false)
})

/** What a page learns of a run until `enough` of it. */
async function heard(ctx: ServiceContext, runId: string, calls: boolean, enough: (seen: RunEvent[]) => boolean) {
  const follow = await openRunEvents(ctx, { runId, lastEventId: null, calls })
  const seen: RunEvent[] = []
  for await (const event of follow?.(AbortSignal.timeout(30_000)) ?? []) {
    seen.push(event)
    if (enough(seen)) break
  }
  return seen
}

test('whoever follows a run and asks for calls learns of each once, at once and in order; others get what they always got', async () => {
  const slow = { name: tools.slow, args: {} }
  model.script({ calls: [{ name: tools.stock, args: {} }, slow] }, ANSWER)
  const runId = await runtime.start(definition())
  const seqs = (events: RunEvent[]) =>
    events.flatMap(({ event, data }) => (event === 'call' && 'seq' in data ? [data.seq] : []))
  const first = await heard(runtime.ctx, runId, true, (seen) => seqs(seen).length === 1)
  expect(first.at(-1)?.data).toMatchObject({ stepId: 'ask', visit: 1, seq: 1, kind: 'model', name: 'm' })
  const seq = await seqOf(runId)
  await until(() => outside.seen.length > 0)
  expect((await readStepCalls(runtime.ctx, { runId, seq })).waiting).toEqual(['Look up stock', 'Order more'])
  release()
  const all = heard(runtime.ctx, runId, true, () => false)
  await runtime.wait(runId)
  const events = await all
  expect(seqs(events).sort()).toEqual([1, 2, 3, 4])
  const ids = events.map(({ id }) => Number.parseInt(id, 10))
  expect(ids).toEqual([...ids].sort((a, b) => a - b))
  const resumed = await openRunEvents(runtime.ctx, { runId, lastEventId: first.at(-1)?.id ?? null, calls: true })
  const rest: RunEvent[] = []
  for await (const event of resumed?.(AbortSignal.timeout(30_000)) ?? []) rest.push(event)
  expect(seqs(rest).sort()).toEqual([2, 3, 4])
  expect(seqs(await heard(runtime.ctx, runId, false, () => false))).toEqual([])
  expect((await readStepCalls(runtime.ctx, { runId, seq })).waiting).toEqual([])
})

test('the process that records a call tells whoever watches the run', async () => {
  model.script({ calls: [{ name: tools.slow, args: {} }] }, { hang: true })
  outside.seen.length = 0
  const runId = await runtime.start(definition())
  await until(() => outside.seen.length > 0)
  let heard = 0
  const unwatch = watchRun(runId, () => heard++, { every: true })
  release()
  await until(() => model.calls.length === 2)
  expect(heard).toBe(1)
  unwatch()
  await terminateRun(runtime.ctx, { runId })
})
