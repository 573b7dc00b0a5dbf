import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCalls } from '@/server/agents/journal/shown'
import type { ServiceContext } from '@/server/context'
import { watchRun } from '@/server/interpreter/index'
import { listCalls } from '@/server/runs/calls'
import { openRunEvents, type RunEvent } from '@/server/runs/events'
import { resumeRun } from '@/server/runs/resume'
import { terminateRun } from '@/server/runs/terminate'
import { readWholeValue } from '@/server/runs/whole-value'
import { createTool } from '@/server/tools/lifecycle'
import type { Shown } from '@/server/views/agents/read-thread'
import { readCall, readCallList } from '@/server/views/runs/calls'
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
  const { calls, waiting } = await readCallList(runtime.ctx, { runId, seq })
  expect(waiting).toEqual([])
  expect(calls).toMatchObject([
    { id: '1', kind: 'model', title: 'm', tokens: { input: 10, output: 5 }, failed: false },
    { id: '2', kind: 'tool', title: 'Look up stock', tokens: null, failed: false },
    { id: '3', kind: 'model', title: 'm' },
  ])
  for (const { start, end } of calls) expect(end).toBeGreaterThanOrEqual(start)
  const { rows } = await readTimeline(runtime.ctx, { runId })
  expect(calls[0]?.start).toBeGreaterThanOrEqual(rows[0]?.[4] ?? Number.NaN)
  expect(calls.at(-1)?.end).toBeLessThanOrEqual(rows[0]?.[5] ?? Number.NaN)
  const tool = await readCall(runtime.ctx, { of: { runId, seq }, call: '2' })
  expect(tool).toMatchObject({ title: 'Look up stock', args: { text: expect.stringContaining('AX-210') } })
  expect(tool).toMatchObject({ result: { ok: true, output: { text: expect.stringContaining('"left": 3') } } })
  expect(await readCall(runtime.ctx, { of: { runId, seq }, call: '3' })).toMatchObject({ text: { text: ANSWER.text } })
  const missing = { code: 'RUN_NOT_FOUND' }
  await expect(readCall(runtime.ctx, { of: { runId, seq }, call: '4' })).rejects.toMatchObject(missing)
  await expect(readCallList(runtime.ctx, { runId, seq: seq + 99 })).rejects.toMatchObject(missing)
  const other = await runtime.as('owner', 'ten_other')
  await expect(readCallList(other, { runId, seq })).rejects.toMatchObject(missing)
  await expect(readCall(other, { of: { runId, seq }, call: '1' })).rejects.toMatchObject(missing)
})

test('failed calls say so: of tools, and of the model', async () => {
  model.script({ calls: [{ name: 'nothing', args: {} }] }, { text: 'no' }, { text: 'no' })
  const runId = await runtime.start(definition())
  await runtime.wait(runId)
  const seq = await seqOf(runId)
  expect((await readCallList(runtime.ctx, { runId, seq })).calls).toMatchObject([
    { kind: 'model', failed: false },
    { kind: 'tool', title: 'nothing', failed: true },
    { kind: 'model', failed: false },
    { kind: 'model', failed: true },
  ])
  expect(await readCall(runtime.ctx, { of: { runId, seq }, call: '2' })).toMatchObject({ result: { ok: false } })
  // Until now, only its result said so.
  const ofTool = database.sql`kind = 'tool' and turn_id in (select id from agent_turns where run_id = ${runId})`
  const [recorded] = await database.sql`select error_code from agent_calls where ${ofTool}`
  expect(recorded).toEqual({ error_code: 'TOOL_NOT_FOUND' })
  await database.sql`update agent_calls set error_code = null where ${ofTool}`
  expect((await readCallList(runtime.ctx, { runId, seq })).calls[1]).toMatchObject({ kind: 'tool', failed: true })
  expect(await readCall(runtime.ctx, { of: { runId, seq }, call: '4' })).toMatchObject({
    errorCode: 'OUTPUT_SCHEMA_MISMATCH',
  })
})

test('a page of large calls reads only those that it returns, and the pages together have each call once', async () => {
  model.script({ calls: [{ name: tools.stock, args: {} }] }, ANSWER)
  const runId = await runtime.start(definition())
  await runtime.wait(runId)
  const text = (await database.sql`select string_agg(md5(random()::text), '') as text from generate_series(1, 3000)`)[0]
  await database.sql`
    insert into agent_calls (tenant_id, turn_id, seq, kind, name, output, change, started_at, ended_at)
    select c.tenant_id, c.turn_id, 100 + n, 'tool', c.name, json_build_object('type', 'text', 'value', ${text?.text}::text || n),
      c.change + n, c.started_at, c.ended_at
    from agent_calls c join agent_turns t on t.id = c.turn_id, generate_series(1, 150) n where t.run_id = ${runId} and c.seq = 3`
  const read: number[] = []
  const seen: number[] = []
  for (let after: string | null = '0'; after !== null; ) {
    const { calls, next } = await listCalls(runtime.ctx, runId, { after, limit: '1000' })
    seen.push(...calls.map(({ seq }) => seq))
    read.push(calls.length)
    after = next
  }
  expect(seen).toEqual([1, 2, 3, ...Array.from({ length: 150 }, (_, n) => 101 + n)])
  expect(read.length).toBeGreaterThan(2)

  // A text of 96 KB takes 13 blocks.
  const reader = { ...runtime.ctx, db: database.db }
  const blocksOf = async (work: () => Promise<unknown>) => {
    const sent: { text: string; values: unknown[] }[] = []
    const debug = (_connection: number, text: string, values: unknown[]) => sent.push({ text, values })
    Object.assign(database.sql.options, { debug })
    await work()
    Object.assign(database.sql.options, { debug: false })
    const statement = sent.find(({ text }) => text.includes('agent_calls'))
    const plan = `explain (analyze, buffers, format json) ${statement?.text}`
    const [row] = await database.sql.unsafe(plan, (statement?.values ?? []) as never[])
    return Number(row?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'])
  }
  // Each call is measured, and then read.
  const page = await blocksOf(() => readCalls(reader, sql`t.run_id = ${runId}`, { after: 0, limit: 1_000 }))
  expect(page / 13).toBeGreaterThan(read[0] ?? 0)
  expect(page / 13).toBeLessThan(3 * (read[0] ?? 0))
  const seq = await seqOf(runId)
  expect(await blocksOf(() => readCallList(reader, { runId, seq }))).toBeLessThan(100)
  // Of an opened call the start is read, and the rest on demand.
  const { result } = (await readCall(runtime.ctx, { of: { runId, seq }, call: '101' })) as never as {
    result: { output: Shown }
  }
  expect(result.output).toEqual({ text: text?.text.slice(0, 20_000), cutFrom: 96_001 })
  const whole = { of: 'call', at: { of: { runId, seq }, call: '101' }, field: 'result' }
  expect(await readWholeValue(runtime.ctx, whole)).toEqual({ value: `${text?.text}1` })
  const nobody = readWholeValue(await runtime.as('owner', 'ten_other'), whole)
  await expect(nobody).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  await database.sql`delete from agent_calls where seq > 100`
})

test('a call that needed a decision says what people decided, and with which arguments', async () => {
  const approval = { title: 'Look it up', editable: ['article'] }
  const { id } = await newAgent(runtime.ctx, { tools: [{ toolId: asked, version: 'latest', approval }] }, model)
  model.script({ calls: [{ name: asked, args: { article: 'AX-210' } }] }, ANSWER)
  const runId = await runtime.start(definition(id))
  await runtime.wait(runId, ({ status }) => status === 'paused')
  const seq = await seqOf(runId)
  expect(await readCallList(runtime.ctx, { runId, seq })).toMatchObject({
    calls: [{ kind: 'model' }],
    waiting: ['Look up with care'],
  })
  const body = { type: 'request_user_action', actionId: 'approve', data: { article: 'AX-211' }, remark: 'The new one.' }
  await resumeRun(runtime.ctx, { runId, body })
  await runtime.wait(runId)
  expect(await readCall(runtime.ctx, { of: { runId, seq }, call: '2' })).toMatchObject({
    args: { text: expect.stringContaining('AX-210') },
    decision: { approved: true, remark: 'The new one.', changed: { text: expect.stringContaining('AX-211') } },
  })
  const { calls } = await listCalls(runtime.ctx, runId, {})
  expect(calls[1]).toMatchObject({ decision: { approved: true, args: { article: 'AX-211' }, remark: 'The new one.' } })
  expect('decision' in (calls[0] ?? {})).toBe(false)
})

test('a decision by votes names all who voted for it', async () => {
  const approval = { needs: { approve: 2, reject: 2 } }
  const { id } = await newAgent(runtime.ctx, { tools: [{ toolId: asked, version: 'latest', approval }] }, model)
  model.script({ calls: [{ name: asked, args: { article: 'AX-210' } }] }, ANSWER)
  const runId = await runtime.start(definition(id))
  await runtime.wait(runId, ({ status }) => status === 'paused')
  const vote = (sub: string, actionId: string) => {
    const actor = { kind: 'jwt', id: sub, secretId: 'sec_1', role: 'operator' } as const
    return resumeRun({ ...runtime.ctx, actor }, { runId, body: { type: 'request_user_action', actionId } })
  }
  for (const [sub, actionId] of [
    ['ada', 'approve'],
    ['bob', 'reject'],
    ['cy', 'approve'],
  ] as const)
    await vote(sub, actionId)
  await runtime.wait(runId)
  const { calls } = await listCalls(runtime.ctx, runId, {})
  expect(calls[1]).toMatchObject({ decision: { approved: true, by: 'cy', voters: ['ada', 'cy'] } })
  const detail = await readCall(runtime.ctx, { of: { runId, seq: await seqOf(runId) }, call: '2' })
  expect(detail).toMatchObject({ decision: { approved: true, by: ['ada', 'cy'] } })
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
  expect((await readCallList(runtime.ctx, { runId, seq })).waiting).toEqual(['Look up stock', 'Order more'])
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
  expect((await readCallList(runtime.ctx, { runId, seq })).waiting).toEqual([])
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
