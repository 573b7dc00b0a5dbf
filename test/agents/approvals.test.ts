import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { agentCalls, agentTurns } from '@/db/schema/turns'
import { updateAgent } from '@/server/agents/lifecycle'
import { cancelRun } from '@/server/runs/cancel'
import { resumeRun } from '@/server/runs/resume'
import { retryRun } from '@/server/runs/retry'
import { terminateRun } from '@/server/runs/terminate'
import { archiveTool, createTool } from '@/server/tools/lifecycle'
import { until } from '../engine/support'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { refusal } from '../workflows/support'
import { newAgent } from './support'

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let outside: Outside
let refund: string
let holds = false

beforeAll(async () => {
  database = await freshDatabase()
  outside = await startOutside((_seen, response) => {
    if (!holds) response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
  refund = (
    await createTool(runtime.ctx, {
      name: 'Refund',
      kind: 'http',
      config: { method: 'POST', url: `${outside.url}/refund`, body: '${args}' },
      inputSchema: {
        type: 'object',
        properties: { amount: { type: 'number', maximum: 500, title: 'Amount' }, orderId: { type: 'string' } },
        required: ['amount', 'orderId'],
        additionalProperties: false,
      },
    })
  ).id
})
beforeEach(() => {
  outside.seen.length = 0
})
afterAll(async () => {
  await runtime?.stop()
  await outside?.stop()
  await model?.close()
  await database?.close()
})

const answer = { text: '{"item":"chairs","amount":12}' }
const wish = (amount: number, orderId = 'A1') => ({
  name: refund,
  args: { amount, orderId, approval_reason: 'The chair is **broken**.' },
})

async function start(approval: unknown, step: object = {}, more: object = {}): Promise<string> {
  const tools = [{ toolId: refund, version: 'latest', approval }]
  const { id: agentId } = await newAgent(runtime.ctx, { tools }, model)
  return runtime.start({
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'x', ...step },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'ask', to: 'end' }],
    ...more,
  })
}

const paused = (runId: string) => runtime.wait(runId, ({ status }) => status === 'paused', 10_000)
const give = (runId: string, actionId: string, more: object = {}) =>
  resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId, ...more } })
const paid = () => outside.seen.map(({ body }) => JSON.parse(body))
const toolMessages = () =>
  model.calls
    .at(-1)
    ?.body.messages.flatMap((one: { role: string; content: string }) => (one.role === 'tool' ? [one.content] : []))

test('a call that needs a decision is made once it is approved, with its arguments and its key', async () => {
  model.script({ calls: [wish(240)] }, answer)
  const runId = await start({ when: '${args.amount} > 100', title: 'Refund ${args.amount}' })
  const asking = await paused(runId)
  expect(paid()).toEqual([])
  expect(asking.pauseSignals).toMatchObject([
    {
      type: 'request_user_action',
      id: 'main:ask#1~2',
      stepId: 'ask',
      title: 'Refund 240',
      actions: [
        { id: 'approve', label: 'Approve' },
        { id: 'reject', label: 'Reject' },
      ],
      show: [
        { label: 'Amount', value: 240 },
        { label: 'orderId', value: 'A1' },
        { label: 'In the model’s words', value: 'The chair is **broken**.' },
      ],
      call: { toolId: refund, version: 1, args: { amount: 240, orderId: 'A1' }, why: 'The chair is **broken**.' },
    },
  ])
  expect(asking.stepExecutionHistory.at(-1)).toMatchObject({ stepId: 'ask', status: 'running', attempt: 1 })
  await give(runId, 'approve')
  const run = await runtime.wait(runId)
  expect(run.status).toBe('completed')
  expect(paid()).toEqual([{ amount: 240, orderId: 'A1' }])
  expect(outside.seen[0]?.headers['idempotency-key']).toBe(`${runId}:main:ask:1:2`)
  expect(model.calls).toHaveLength(2)
  expect(run.stepExecutionHistory[0]).toMatchObject({ attempt: 1, usage: { usage: { totalTokens: 30 } } })
  expect(run.stepExecutionHistory[0]).not.toHaveProperty('attempts')
})

test('a call below the limit is made at once', async () => {
  model.script({ calls: [wish(40)] }, answer)
  const run = await runtime.wait(await start({ when: '${args.amount} > 100' }))
  expect([run.status, paid()]).toEqual(['completed', [{ amount: 40, orderId: 'A1' }]])
})

test('a call that is rejected is never made, and the model learns why', async () => {
  model.script({ calls: [wish(240)] }, answer)
  const runId = await start('always')
  await paused(runId)
  await give(runId, 'reject', { remark: 'Send a new chair instead.' })
  expect((await runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
  expect(paid()).toEqual([])
  expect(toolMessages()).toEqual([expect.stringContaining('Send a new chair instead.')])
})

test('a person may change the arguments that the policy names, within the schema of the tool', async () => {
  model.script({ calls: [wish(240)] }, answer)
  const runId = await start({ editable: ['amount'] })
  const { pauseSignals } = await paused(runId)
  expect(pauseSignals[0]).toMatchObject({
    actions: [
      { id: 'approve', fields: { amount: { type: 'number', default: 240, label: 'Amount' } } },
      { id: 'reject' },
    ],
  })
  const { code, details } = await refusal(give(runId, 'approve', { data: { amount: 501 } }))
  expect([code, details[0]?.path]).toEqual(['INVALID_INPUT', 'data.amount'])
  expect((await runtime.status(runId)).status).toBe('paused')
  await give(runId, 'approve', { data: { amount: 120, orderId: 'another' } })
  expect((await runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
  expect(paid()).toEqual([{ amount: 120, orderId: 'A1' }])
  expect(toolMessages()).toEqual([expect.stringContaining('A person changed the arguments')])
  const calls = await runtime.db
    .select({ decision: agentCalls.decision })
    .from(agentCalls)
    .innerJoin(agentTurns, and(eq(agentTurns.tenantId, agentCalls.tenantId), eq(agentTurns.id, agentCalls.turnId)))
    .where(and(eq(agentTurns.runId, runId), eq(agentCalls.kind, 'tool')))
  expect(calls).toEqual([{ decision: { approved: true, by: runtime.ctx.actor.id, args: { amount: 120 } } }])
})

test('several calls are asked about at once; each approved one is made while others still wait', async () => {
  model.script({ calls: [wish(1), wish(2), wish(300)] }, answer)
  const runId = await start({ when: '${args.amount} > 1' })
  const { pauseSignals } = await paused(runId)
  expect(pauseSignals.map(({ id }) => id)).toEqual(['main:ask#1~3', 'main:ask#1~4'])
  expect(paid()).toEqual([{ amount: 1, orderId: 'A1' }])
  await give(runId, 'approve', { pauseId: 'main:ask#1~4' })
  await until(() => outside.seen.length === 2)
  const still = await runtime.wait(runId, (run) => run.status === 'paused' && run.pauseSignals.length === 1)
  expect(still.pauseSignals[0]?.id).toBe('main:ask#1~3')
  await give(runId, 'reject')
  expect((await runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
  expect(paid().map(({ amount }) => amount)).toEqual([1, 300])
  expect(model.calls).toHaveLength(2)
})

test('answers to all questions at once count, each once', async () => {
  model.script({ calls: [wish(10), wish(20), wish(30), wish(40)] }, answer)
  const runId = await start('always')
  const { pauseSignals } = await paused(runId)
  await Promise.all(
    pauseSignals.map(({ id }, index) => give(runId, index % 2 === 0 ? 'approve' : 'reject', { pauseId: id })),
  )
  expect((await runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
  expect(paid().map(({ amount }) => amount)).toEqual([10, 30])
})

test('when time is up, the call is rejected, or the step fails if its policy says so', async () => {
  model.script({ calls: [wish(240)] }, answer)
  const rejected = await runtime.wait(await start({ expiresIn: 'PT1S' }))
  expect([rejected.status, paid()]).toEqual(['completed', []])
  expect(toolMessages()).toEqual([expect.stringContaining('in time')])
  model.script({ calls: [wish(240), wish(250)] }, answer)
  const failed = await runtime.wait(await start({ expiresIn: 'PT1S', onExpiry: 'fail', title: 'Pay?' }))
  expect(failed).toMatchObject({
    status: 'failed',
    error: { code: 'TIMED_OUT', message: expect.stringContaining('Pay?') },
  })
  expect(paid()).toEqual([])
})

test('a failing condition asks, and says why', async () => {
  model.script({ calls: [wish(240)] }, answer)
  const runId = await start({ when: '${args.missing} > 3' })
  const { pauseSignals } = await paused(runId)
  expect(JSON.stringify(pauseSignals[0])).toContain('Why a person decides')
  await give(runId, 'approve')
  expect((await runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
})

test.each(['cancel', 'terminate'])('after a %s no call is made, also not an approved one', async (kind) => {
  model.script({ calls: [wish(240)] }, answer)
  const runId = await start('always')
  await paused(runId)
  await (kind === 'cancel' ? cancelRun : terminateRun)(runtime.ctx, { runId })
  expect((await runtime.wait(runId, undefined, 10_000)).outcome).toBe(kind === 'cancel' ? 'cancelled' : 'terminated')
  expect((await refusal(give(runId, 'approve'))).code).toBe('RUN_NOT_PAUSED')
  expect(paid()).toEqual([])
})

test('a thread whose turn waits takes no other message until the turn has ended', async () => {
  model.script({ text: answer.text }, { calls: [wish(240)] }, answer, answer)
  const tools = [{ toolId: refund, version: 'latest', approval: 'always' }]
  const { id: agentId } = await newAgent(runtime.ctx, { tools }, model)
  const { invokeAgent } = await import('@/server/agents/invoke')
  const never = new AbortController().signal
  const say = (body: object) => invokeAgent(runtime.ctx, { agentId, body: { message: 'x', ...body } }, never)
  const { threadId } = await say({})
  const runId = await runtime.start({
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'y', threadId },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
  await paused(runId)
  const { code, details } = await refusal(say({ threadId }))
  expect([code, details[0]]).toEqual(['THREAD_WAITING', expect.objectContaining({ runId })])
  await give(runId, 'approve')
  expect((await runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
  expect((await say({ threadId })).threadId).toBe(threadId)
})

test('the error exit follows a decision that came too late, and nobody is asked any more', async () => {
  model.script({ calls: [wish(240), wish(250, 'B2')] }, answer)
  const tools = [{ toolId: refund, version: 'latest', approval: { expiresIn: 'PT1S', onExpiry: 'fail' } }]
  const { id: agentId } = await newAgent(runtime.ctx, { tools }, model)
  const runId = await runtime.start({
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'x' },
      { id: 'end', type: 'end-flow' },
      { id: 'late', type: 'end-flow', output: { code: '${error.code}' } },
    ],
    edges: [
      { from: 'ask', to: 'end' },
      { from: 'ask', to: 'late', on: 'error' },
    ],
  })
  const run = await runtime.wait(runId, undefined, 15_000)
  expect(run).toMatchObject({ status: 'completed', result: { code: 'TIMED_OUT' }, pauseSignals: [] })
  expect(paid()).toEqual([])
})

test('a branch whose agent fails leaves no question: the run is not paused while others work', async () => {
  model.script({ calls: [wish(240), wish(250, 'B2')] }, answer)
  const tools = [{ toolId: refund, version: 'latest', approval: { expiresIn: 'PT1S', onExpiry: 'fail' } }]
  const { id: agentId } = await newAgent(runtime.ctx, { tools }, model)
  const runId = await runtime.start({
    steps: [
      {
        id: 'fork',
        type: 'parallel',
        branches: [
          { id: 'agent', label: 'Agent' },
          { id: 'slow', label: 'Slow' },
        ],
        onBranchError: 'continue',
      },
      { id: 'ask', type: 'call-agent', agentId, message: 'x' },
      { id: 'slow', type: 'delay', for: 'PT4S' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [
      { from: 'fork', to: 'ask', on: 'agent' },
      { from: 'fork', to: 'slow', on: 'slow' },
      { from: 'fork', to: 'end', on: 'done' },
    ],
  })
  await paused(runId)
  const working = await runtime.wait(runId, ({ status }) => status !== 'paused', 10_000)
  expect([working.status, working.pauseSignals]).toEqual(['running', []])
  expect((await runtime.wait(runId, undefined, 15_000)).endTime).toBeDefined()
})

test('a question ends with the visit although the tool it asks about is gone', async () => {
  model.script({ calls: [wish(240), { name: 'gone', args: { approval_reason: 'x' } }] }, answer)
  const { id: gone } = await createTool(runtime.ctx, {
    name: 'gone',
    kind: 'script',
    config: { code: 'return 1' },
  })
  const tools = [refund, gone].map((toolId) => ({ toolId, version: 'latest', approval: 'always' }))
  const { id: agentId } = await newAgent(runtime.ctx, { tools }, model)
  model.script({ calls: [wish(240), { name: gone, args: { approval_reason: 'x' } }] }, answer)
  const runId = await runtime.start({
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'x' },
      { id: 'then', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }] },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [
      { from: 'ask', to: 'then' },
      { from: 'then', to: 'end' },
    ],
  })
  await paused(runId)
  await archiveTool(runtime.ctx, { id: gone })
  await give(runId, 'approve', { pauseId: 'main:ask#1~2' })
  const after = await runtime.wait(
    runId,
    ({ pauseSignals }) => pauseSignals.some(({ id }) => id === 'main:then#1'),
    10_000,
  )
  expect(after.pauseSignals).toHaveLength(1)
  await give(runId, 'ok')
  expect((await runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
})

test('an object that nobody changed does not count as changed', async () => {
  const { id: nested } = await createTool(runtime.ctx, {
    name: 'nested',
    kind: 'script',
    config: { code: 'return args.to' },
    inputSchema: { type: 'object', properties: { to: { type: 'object' } }, required: ['to'] },
  })
  const args = { to: { zip: '1', city: 'Bonn' }, approval_reason: 'x' }
  model.script({ calls: [{ name: nested, args }] }, answer)
  const tools = [{ toolId: nested, version: 'latest', approval: { editable: ['to'] } }]
  const { id: agentId } = await newAgent(runtime.ctx, { tools }, model)
  const runId = await runtime.start({
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'x' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
  await paused(runId)
  await give(runId, 'approve')
  await runtime.wait(runId, undefined, 10_000)
  expect(toolMessages()).toEqual(['{"zip":"1","city":"Bonn"}'])
})

test('a question hides what its run hides, in its rows and wherever the model repeats it; keys of the API see the call', async () => {
  const iban = 'DE02120300000000202051'
  const { id: pay } = await createTool(runtime.ctx, {
    name: 'pay',
    kind: 'script',
    config: { code: 'return 1' },
    inputSchema: { type: 'object', properties: { to: { type: 'object' }, amount: { type: ['number', 'null'] } } },
  })
  const args = { to: { name: 'Ada', iban }, amount: 5, approval_reason: `Pay ${iban}` }
  model.script({ calls: [{ name: pay, args }] }, answer)
  const approval = { editable: ['to', 'amount'], title: 'Pay ${args.to.iban}' }
  const { id: agentId } = await newAgent(runtime.ctx, { tools: [{ toolId: pay, version: 'latest', approval }] }, model)
  const runId = await runtime.start(
    {
      payload: { iban: { type: 'string', sensitive: true } },
      steps: [
        { id: 'ask', type: 'call-agent', agentId, message: 'x' },
        { id: 'end', type: 'end-flow' },
      ],
      edges: [{ from: 'ask', to: 'end' }],
    },
    { iban },
  )
  const { pauseSignals } = await paused(runId)
  const [asked] = pauseSignals as unknown as { call: { args: object; why: string } }[]
  expect(asked?.call.args).toMatchObject({ to: { iban } })
  const shown = { ...asked, call: { ...asked?.call, args: null } }
  expect(JSON.stringify(shown)).not.toContain(iban)
  expect(pauseSignals).toMatchObject([
    { title: 'Pay ***', actions: [{ id: 'approve', fields: { amount: { type: 'number', default: 5 } } }, {}] },
  ])
  await give(runId, 'reject')
  await runtime.wait(runId, undefined, 10_000)
})

test('an agent cannot have a tool twice', async () => {
  const tools = [{ toolId: refund, version: 'latest', approval: 'always' }, refund]
  expect((await refusal(newAgent(runtime.ctx, { tools }, model))).code).toBe('INVALID_INPUT')
})

test('a retry asks by the present policy, also about a call that needed no decision before', async () => {
  model.script({ calls: [wish(240)] })
  holds = true
  const tools = (approval: unknown) => [{ toolId: refund, version: 'latest', approval }]
  const { id: agentId } = await newAgent(runtime.ctx, { tools: tools({ when: '${args.amount} > 900' }) }, model)
  const runId = await runtime.start({
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'x', retry: { maxAttempts: 1 }, timeoutMs: 1_000 },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
  expect((await runtime.wait(runId, undefined, 10_000)).status).toBe('failed')
  holds = false
  await updateAgent(runtime.ctx, { id: agentId, body: { tools: tools('always') } as never })
  model.script(answer)
  const { runId: again } = await retryRun(runtime.ctx, { runId })
  expect((await paused(again)).pauseSignals).toMatchObject([{ call: { args: { amount: 240 } } }])
  await give(again, 'approve')
  expect((await runtime.wait(again, undefined, 10_000)).status).toBe('completed')
  const keys = outside.seen.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toEqual([`${runId}:main:ask:1:2`, `${runId}:main:ask:1:2`])
})
