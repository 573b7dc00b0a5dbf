import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { getUsage } from '@/server/agents/get-usage'
import { createAgent, getAgent, updateAgent } from '@/server/agents/lifecycle'
import { sweepUsage } from '@/server/agents/usage'
import { type ServiceContext, systemContext } from '@/server/context'
import { retryRun } from '@/server/runs/retry'
import { startRun } from '@/server/runs/start'
import { deleteSubjectData } from '@/server/subjects/delete'
import { getAgentLimits, setAgentLimits } from '@/server/tenants/agent-limits'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, type Reply, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { chat, invokeAgent } from '../support/talk'
import { newScriptTool } from '../support/tenant'
import { newAgent } from './support'

let database: FreshDatabase
let runtime: TestRuntime
let ctx: ServiceContext
let model: ModelServer
const never = new AbortController().signal

beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1', AGENT_TIMEOUT_MS: '10000' })
  ctx = runtime.ctx
})
beforeEach(async () => {
  await database.sql`delete from usage_days`
  model.answer(() => answer)
})
afterAll(async () => {
  await runtime?.stop()
  await model?.close()
  await database?.close()
})

const order = { item: 'chairs', amount: 12 }
const answer: Reply = { text: JSON.stringify(order) }
/** Each answer costs a dollar: 10 tokens in, 5 out. */
const dollar = { input: 50_000, output: 100_000 }
const priced = (fields: object = {}) =>
  newAgent(ctx, {
    model: { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url, prices: dollar },
    ...fields,
  })
const invoke = (agentId: string, as = ctx) => invokeAgent(as, { agentId, body: { message: 'x' } }, never)
const token = (sub: string): ServiceContext => ({
  ...ctx,
  actor: { kind: 'jwt', id: sub, secretId: 'sec_1', role: 'operator' },
})
const used = () => database.sql`
  select kind, key, calls, input::int, cached::int, output::int, cost from usage_days order by kind, key`
const setWorkspace = (limits: object | null) =>
  database.sql`update tenants set agent_limits = ${limits as never} where id = ${ctx.tenantId}`
const asking = (agentId: string) => ({
  steps: [
    { id: 'ask', type: 'call-agent', agentId, message: 'x' },
    { id: 'end', type: 'end-flow' },
  ],
  edges: [{ from: 'ask', to: 'end' }],
})
const over = (limit: string) => ({
  code: 'BUDGET_EXCEEDED',
  status: 429,
  details: [expect.objectContaining({ limit })],
})

test('A14: of eight calls at once, at most eight go over a limit of the day; the ninth is refused until the day ends', async () => {
  const { id } = await priced({ limits: { day: { cost: 1 } } })
  model.answer(() => ({ ...answer, delayMs: 200 }) as Reply)
  const eight = await Promise.allSettled(Array.from({ length: 8 }, () => invoke(id)))
  const made = eight.filter(({ status }) => status === 'fulfilled').length
  expect(made).toBeGreaterThan(0)
  const before = model.calls.length
  const err = await invoke(id).catch((thrown: unknown) => thrown)
  expect(err).toMatchObject(over('day.cost'))
  expect(model.calls.length).toBe(before)
  const seconds = Number((err as { headers: Record<string, string> }).headers['retry-after'])
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(86_400)
  expect(await used()).toMatchObject([
    { kind: 'agent', key: id, calls: made, cost: made },
    { kind: 'workspace', key: '', calls: made, cost: made },
  ])
  await expect(chat(ctx, { agentId: id, message: 'x' }, never)).rejects.toMatchObject(over('day.cost'))
  // Another agent has limits of its own.
  const { id: other } = await priced({ limits: { day: { cost: 1 } } })
  await invoke(other)
})

test('the workspace and each subject have limits, too, and subjects are counted apart', async () => {
  const { id } = await priced()
  await setWorkspace({ subjectDay: { tokens: 15 } })
  await invoke(id, token('ada'))
  await expect(invoke(id, token('ada'))).rejects.toMatchObject(over('subjectDay.tokens'))
  await invoke(id, token('bob'))
  await invoke(id)
  await setWorkspace({ day: { tokens: 45 } })
  await expect(invoke(id)).rejects.toMatchObject({ message: 'The workspace may use 45 tokens a day' })
  await setWorkspace(null)
  await invoke(id)
  const subjects = (await used()).filter(({ kind }) => kind === 'subject')
  expect(subjects.map(({ key, calls }) => [key, calls])).toEqual([
    ['ada', 1],
    ['bob', 1],
  ])
  await deleteSubjectData(ctx, { sub: 'ada' })
  expect((await used()).filter(({ kind }) => kind === 'subject')).toHaveLength(1)
})

test('a run counts for the subject of its token, also if that looks like an id, and for nobody else', async () => {
  const { id } = await priced()
  const { id: workflowId } = await createWorkflow(ctx, { name: 'Asks', ...asking(id) })
  await publishWorkflow(ctx, { id: workflowId })
  const start = async (who: ServiceContext) => runtime.wait((await startRun(who, { workflowId, body: {} })).runId)
  const owner = { kind: 'user', id: 'usr_owner', name: 'O', sessionId: 's', role: 'owner' } as const
  for (const who of [token('usr_0815'), token('system'), { ...ctx, actor: owner }, systemContext(ctx, 'sch_1')])
    expect(await start(who)).toMatchObject({ status: 'completed' })
  const subjects = (await used()).filter(({ kind }) => kind === 'subject')
  expect(subjects.map(({ key, calls }) => [key, calls])).toEqual([
    ['system', 1],
    ['usr_0815', 1],
  ])
})

test('limits of a message stop before the call after them, and rounds and calls of tools replace the usual numbers', async () => {
  const tool = await newScriptTool(ctx, 'return 1')
  const calls: Reply = { calls: [{ name: tool, args: {} }] }
  model.answer(() => calls)
  const { id: tokens } = await priced({ tools: [tool], limits: { turn: { tokens: 30 } } })
  await expect(invoke(tokens)).rejects.toMatchObject(over('turn.tokens'))
  expect(model.calls).toHaveLength(2)
  const { id: cost } = await priced({ tools: [tool], limits: { turn: { cost: 2.5 } } })
  await expect(invoke(cost)).rejects.toMatchObject(over('turn.cost'))
  const { id: call } = await priced({ limits: { call: { tokens: 10 } } })
  model.script()
  await expect(invoke(call)).rejects.toMatchObject(over('call.tokens'))
  expect(model.calls).toHaveLength(0)
  model.answer(({ body }) => (body.tool_choice === 'none' ? answer : calls))
  const { id: rounds } = await priced({ tools: [tool], limits: { turn: { rounds: 2, calls: 1 } } })
  expect((await invoke(rounds)).metadata).toMatchObject({ rounds: 2, toolCalls: 2 })
  expect(JSON.stringify(model.calls.at(-1)?.body)).toContain('TOO_MANY_CALLS')
})

test('a step at a limit fails without another attempt, and a retry after it was raised keeps what was done', async () => {
  const tool = await newScriptTool(ctx, 'return 1')
  const { id } = await priced({ tools: [tool], limits: { turn: { cost: 1 } } })
  model.answer((_call, index) => (index === 0 ? { calls: [{ name: tool, args: {} }] } : answer))
  const run = await runtime.wait(await runtime.start(asking(id)))
  expect(run).toMatchObject({
    status: 'failed',
    stepExecutionHistory: [{ attempt: 1, errorCode: 'BUDGET_EXCEEDED', error: 'One message may cost 1 US dollars' }],
  })
  await updateAgent(ctx, { id, body: { limits: {} } })
  const { runId } = await retryRun(ctx, { runId: run.runId } as never)
  expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
  expect(model.calls).toHaveLength(2)
  expect(await used()).toMatchObject([
    { kind: 'agent', calls: 2, cost: 2, input: 20, output: 10 },
    { kind: 'workspace', calls: 2, cost: 2 },
  ])
})

test('A5: an attempt that continues a turn counts no call twice', async () => {
  const tool = await newScriptTool(ctx, 'return 1')
  const { id } = await priced({ tools: [tool] })
  const failing = { status: 503, headers: { 'retry-after-ms': '10000' } }
  model.answer((_call, index) => [{ calls: [{ name: tool, args: {} }] }, failing][index] ?? answer)
  const run = await runtime.wait(await runtime.start(asking(id)))
  expect(run).toMatchObject({ status: 'completed', stepExecutionHistory: [{ attempt: 2 }, {}] })
  const [sum] = await database.sql`
    select count(*)::int as calls, sum((c.usage->>'inputTokens')::int)::int as input, sum(c.cost) as cost
    from agent_calls c join agent_turns t on t.id = c.turn_id where t.run_id = ${run.runId} and c.kind = 'model'`
  expect(sum).toEqual({ calls: 2, input: 20, cost: 2 })
  expect(await used()).toMatchObject([
    { kind: 'agent', key: id, ...sum },
    { kind: 'workspace', ...sum },
  ])
})

test('a limit of cost names each model that answered without a known price, those of other agents too', async () => {
  const unknown = (modelId: string) => `The price of openai-compatible/${modelId} is not known.`
  const of = (modelId: string) => ({ provider: 'openai-compatible', modelId, baseUrl: model.url })
  const limits = { day: { cost: 1 } }
  const { id } = await newAgent(ctx, { limits }, model)
  expect((await invoke(id)).metadata.warnings).toEqual([unknown('m')])
  // The first model asks for a tool and then fails; the second one has a price, and the third one has none.
  const tool = await newScriptTool(ctx, 'return 1')
  const both = { model: of('a'), fallbacks: [{ ...of('b'), prices: dollar }, of('c')], tools: [tool] }
  const { id: pair } = await newAgent(ctx, { ...both, limits })
  let asked = 0
  const down: Reply = { status: 503, headers: { 'retry-after-ms': '1' } }
  model.answer(({ body }) => {
    if (body.model === 'a') return asked++ === 0 ? { calls: [{ name: tool, args: {} }] } : down
    return body.model === 'b' ? down : answer
  })
  expect((await invoke(pair)).metadata.warnings).toEqual([unknown('a'), unknown('c')])
  // Nobody asks.
  asked = 0
  expect((await invoke((await newAgent(ctx, both)).id)).metadata).not.toHaveProperty('warnings')
  const { id: clerk } = await newAgent(ctx, { model: of('clerk') })
  const { id: chief } = await createAgent(ctx, {
    ...{ name: 'Chief', model: { ...of('chief'), prices: dollar }, limits: { turn: { cost: 9 } } },
    ...{ supervisor: true, handoffs: [clerk] },
  })
  model.answer(({ body }, index) =>
    body.model === 'clerk' || index > 0 ? answer : { calls: [{ name: `handoff_${clerk}`, args: { message: 'x' } }] },
  )
  expect((await chat(ctx, { agentId: chief, message: 'x' }, never)).metadata.warnings).toEqual([unknown('clerk')])
})

test('limits are shown if set, and unknown ones are refused', async () => {
  const limits = { day: { cost: 5 }, turn: { tokens: 1_000 } }
  const { id } = await newAgent(ctx, { limits: { ...limits, call: undefined, subjectDay: undefined } })
  expect((await getAgent(ctx, { id })).limits).toEqual(limits)
  expect(Object.keys(await updateAgent(ctx, { id, body: { limits: { day: {} } } }))).not.toContain('limits')
  const make = (bad: object) => createAgent(ctx, { name: 'A', limits: bad } as never)
  await expect(make({ at: { ask: [] } })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(make({ day: { cost: 0 } })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('usage is read by day, agent and subject; a token sees only its own', async () => {
  const { id } = await priced()
  await invoke(id, token('ada'))
  await invoke(id, token('bob'))
  const today = new Date().toISOString().slice(0, 10)
  const one = { calls: 1, inputTokens: 10, cachedTokens: 0, outputTokens: 5, cost: 1 }
  const both = { ...one, calls: 2, inputTokens: 20, outputTokens: 10, cost: 2 }
  expect((await getUsage(ctx, {})).usage).toEqual([{ key: today, ...both }])
  expect((await getUsage(ctx, { by: 'agent' })).usage).toEqual([{ key: id, ...both }])
  expect((await getUsage(ctx, { by: 'subject' })).usage).toEqual([
    { key: 'ada', ...one },
    { key: 'bob', ...one },
  ])
  expect((await getUsage(token('bob'), { by: 'subject' })).usage).toEqual([{ key: 'bob', ...one }])
  expect((await getUsage(token('bob'), {})).usage).toEqual([{ key: today, ...one }])
  expect((await getUsage(token('bob'), { by: 'agent' })).usage).toEqual([])
  await expect(getUsage(ctx, { from: '2026-02-02', to: '2026-02-01' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('an admin sets the limits of the workspace, and the audit log says so', async () => {
  await expect(setAgentLimits(await runtime.as('editor'), { limits: {} })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  const admin = await runtime.as('admin')
  await setAgentLimits(admin, { limits: { day: { cost: 2 } } })
  expect((await getAgentLimits(admin)).limits).toEqual({ day: { cost: 2 } })
  await setAgentLimits(admin, { limits: { day: {} } })
  expect((await getAgentLimits(admin)).limits).toEqual({})
  const entries = await database.sql`select details from audit_entries where action = 'limits.changed' order by seq`
  expect(entries.map(({ details }) => details)).toEqual([
    { 'day.cost': { from: null, to: 2 } },
    { 'day.cost': { from: 2, to: null } },
  ])
})

test('the usage of a day is kept for 400 days', async () => {
  await database.sql`
    insert into usage_days select ${ctx.tenantId}, current_date - n, 'workspace', '', 1, 1, 0, 1, 0
    from unnest(array[399, 401]) n`
  await sweepUsage({ db: ctx.db, now: () => new Date(), log: ctx.log } as never)
  expect(await used()).toHaveLength(1)
})
