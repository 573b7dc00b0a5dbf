import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAgent } from '@/server/agents/lifecycle'
import { listCalls } from '@/server/runs/calls'
import { createTool } from '@/server/tools/lifecycle'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { CrashRuns } from '../interpreter/crash-run'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { expectInvariants } from '../support/invariants/check'
import { type ModelCall, type ModelServer, type Reply, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { sampled } from '../support/sample.mjs'

// A process dies at every write of a turn: before it, or after it is done and before anybody learns of it. The model is
// fickle: asked again, it wants other calls. SOAK=1 tries all places, else each commit tries a few.

const SETTINGS = { ALLOW_PRIVATE_HOSTS: '127.0.0.1', MILLRACE_HOST_ID: 'one' }
const FEW = 3

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let outside: Outside
let workflowId: string
let tools: { http: string; script: string; sums: string }
const crashes = new CrashRuns()
/** The calls that arrived, in order. */
const arrived: { key: string; n: number }[] = []
let asked = 0

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  outside = await startOutside(({ headers, body }, response) => {
    arrived.push({ key: String(headers['idempotency-key']), n: JSON.parse(body).n })
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  model = await startModelServer()
  model.answer(fickle)
  runtime = await startTestRuntime(database.url, SETTINGS)
  workflowId = await publishAll()
  await runtime.stop()
})
afterAll(async () => {
  crashes.stop()
  await outside?.stop()
  await model?.close()
  await database?.close()
})

async function publishAll(): Promise<string> {
  const { ctx } = runtime
  const tool = async (name: string, kind: string, config: object) =>
    (await createTool(ctx, { name, kind, config } as never)).id
  const code = `await fetch('${outside.url}/script', { method: 'POST', body: JSON.stringify(args) }); return 1`
  tools = {
    http: await tool('Http', 'http', { method: 'POST', url: `${outside.url}/http`, body: '${args}' }),
    script: await tool('Script', 'script', { code, allowedHosts: [`127.0.0.1:${outside.port}`] }),
    sums: await tool('Sums', 'script', { code: 'return args.n + 1' }),
  }
  const { id: agentId } = await createAgent(ctx, {
    name: 'Fickle',
    instructions: 'Call.',
    model: { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url, prices: { input: 2, output: 4 } },
    tools: Object.values(tools),
    outputSchema: { type: 'object', properties: { rounds: { type: 'integer' } }, required: ['rounds'] },
  })
  const { id } = await createWorkflow(ctx, {
    name: 'Asks',
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'Go on.' },
      { id: 'end', type: 'end-flow', output: { rounds: '${rounds}' } },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
  await publishWorkflow(ctx, { id })
  return id
}

/** Three rounds, with concurrent calls of one tool under ids that repeat; then the answer. */
function fickle({ body }: ModelCall): Reply {
  asked += 1
  const rounds = body.messages.filter(({ role }: { role: string }) => role === 'assistant').length
  const call = (name: string, index: number) => ({ name, args: { n: asked * 100 + index }, id: `call_${name}` })
  if (rounds === 0)
    return { calls: [call(tools.http, 0), call(tools.http, 1), call(tools.sums, 2), call(tools.http, 3)] }
  if (rounds === 1) return { calls: [call(tools.script, 0), call(tools.sums, 1)] }
  if (rounds === 2) return { calls: [call(tools.sums, 0)] }
  return { text: '{"rounds":3}' }
}

const wholeTurn = ['model', 'tool', 'tool', 'tool', 'tool', 'model', 'tool', 'tool', 'model', 'tool', 'model']

test('A1, A2, A3, A5: a process that dies at any write of a turn leaves its calls to the next one, which makes none again that is recorded', {
  timeout: 1_800_000,
}, async () => {
  const whole = await live('')
  expect(whole.died).toBe(false)
  // Three answers with their calls, four calls that reach outside, and the end.
  const points = whole.points.filter((point) => point.includes('agent_calls'))
  expect(points).toHaveLength(8)
  await expectWhole(whole.runId, whole.before)
  const all = points.flatMap((point) => [`${point} before`, `${point} after`])
  const chosen = process.env.CRASH_AT ? [process.env.CRASH_AT] : sampled(all, all.length / FEW)
  expect(chosen.length).toBeGreaterThan(0)
  for (const at of chosen) {
    const first = await live(at)
    expect(first.died, at).toBe(true)
    await expectInvariants(database.sql)
    const seen = arrived.length
    const done = wantedBy(await callsOf(first.runId)).filter(({ isRecorded }) => isRecorded)
    runtime = await startTestRuntime(database.url, SETTINGS)
    const run = await runtime.wait(first.runId)
    const listed = await listCalls(runtime.ctx, first.runId, {})
    await runtime.stop()
    expect(
      listed.calls.map(({ seq }) => seq).sort((a, b) => a - b),
      at,
    ).toEqual(wholeTurn.map((_, index) => index + 1))
    expect(run, at).toMatchObject({
      ...{ status: 'completed', result: { rounds: 3 } },
      // With that of the process that died.
      stepExecutionHistory: [{ usage: { usage: { totalTokens: 60 }, cost: 0.00016 } }, {}],
    })
    const again = arrived.slice(seen).filter(({ n }) => done.some((call) => call.n === n))
    expect(again, `${at}: recorded calls were made again`).toEqual([])
    await expectWhole(first.runId, first.before, at)
  }
})

interface Recorded {
  key: string
  seq: number
  kind: string
  output: { calls?: { toolName: string; input: { n: number } }[] }
}

async function callsOf(runId: string): Promise<Recorded[]> {
  return database.sql<Recorded[]>`
    select t.run_id || ':main:ask:1:' || c.seq as key, c.seq, c.kind, c.output from agent_calls c
    join agent_turns t on t.tenant_id = c.tenant_id and t.id = c.turn_id where t.run_id = ${runId} order by c.seq`
}

/** The calls that recorded answers ask for and that reach outside. */
function wantedBy(recorded: Recorded[]) {
  const known = new Set(recorded.map(({ seq }) => seq))
  return recorded.flatMap(({ key, seq, output }) =>
    (output.calls ?? []).flatMap(({ toolName, input: { n } }, index) => {
      const own = seq + 1 + index
      const call = { toolName, n, key: key.replace(/\d+$/, String(own)), isRecorded: known.has(own) }
      return toolName === tools.sums ? [] : [call]
    }),
  )
}

/** Every call that arrived was one that a recorded answer asked for, and the turn was saved once. */
async function expectWhole(
  runId: string,
  { calls, models }: { calls: number; models: number },
  at = '',
): Promise<void> {
  const recorded = await callsOf(runId)
  expect(
    recorded.map(({ seq, kind }) => `${seq} ${kind}`),
    at,
  ).toEqual(wholeTurn.map((kind, index) => `${index + 1} ${kind}`))
  // Each answer is counted once in the usage of its day.
  const [usage] = await database.sql`
    select (select count(*)::int from agent_calls where kind = 'model') as recorded,
      (select sum(calls)::int from usage_days where kind = 'agent') as counted`
  expect(usage?.counted, at).toBe(usage?.recorded)
  const wanted = wantedBy(recorded)
  const made = arrived.slice(calls)
  for (const { key, n } of made) {
    const call = wanted.find((one) => one.n === n)
    expect(call, `${at}: ${key} has arguments of no recorded answer`).toBeDefined()
    // The calls of a script have keys made of its own.
    if (call?.toolName === tools.http) expect(key, at).toBe(call.key)
  }
  const keys = new Set(made.map(({ key }) => key))
  expect(keys.size, `${at}: a call has one key, and no other has it`).toBe(wanted.length)
  expect(made.length, at).toBeLessThanOrEqual(wanted.length + 4)
  expect(asked - models, at).toBeLessThanOrEqual(4 + 1)
  const threads = await database.sql`
    select t.id, count(m.*)::int as messages from agent_turns a join threads t on t.id = a.thread_id
    join messages m on m.thread_id = t.id where a.run_id = ${runId} group by t.id`
  expect(threads, at).toMatchObject([{ messages: 8 }])
  const [{ empty } = {}] = await database.sql`
    select count(*)::int as empty from threads t where not exists (select from messages m where m.thread_id = t.id)`
  expect(empty, `${at}: threads without messages`).toBe(0)
  const [turn] =
    await database.sql`select state, usage->'totalTokens' as tokens, cost from agent_turns where run_id = ${runId}`
  expect(turn, at).toMatchObject({ state: 'done', tokens: 60, cost: expect.closeTo(0.00016) })
}

/** Runs the workflow in a process of its own, which completes it or dies at one of its writes. */
async function live(at: string) {
  const before = { calls: arrived.length, models: asked }
  const { after, died, points } = await crashes.live({ tenantId: runtime.ctx.tenantId, workflowId, how: 'nothing', at })
  return { runId: after('started')[0] ?? '', died, points, before }
}
