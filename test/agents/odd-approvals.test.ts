import { expect, test } from 'vitest'
import { updateAgent } from '@/server/agents/lifecycle'
import { retryRun } from '@/server/runs/retry'
import { archiveTool, createTool } from '@/server/tools/lifecycle'
import { refusal } from '../workflows/support'
import { Approving, answer } from './approving'
import { newAgent } from './support'

// Questions about calls where something else happens: a failure, a tool that goes, a retry, hidden values.

const at = new Approving()

test('the error exit follows a decision that came too late, and nobody is asked any more', async () => {
  at.model.script({ calls: [at.wish(240), at.wish(250, 'B2')] }, answer)
  const tools = [{ toolId: at.refund, version: 'latest', approval: { expiresIn: 'PT1S', onExpiry: 'fail' } }]
  const { id: agentId } = await newAgent(at.runtime.ctx, { tools }, at.model)
  const runId = await at.runtime.start({
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
  const run = await at.runtime.wait(runId, undefined, 15_000)
  expect(run).toMatchObject({ status: 'completed', result: { code: 'TIMED_OUT' }, pauseSignals: [] })
  expect(at.paid()).toEqual([])
})

test('a branch whose agent fails leaves no question: the run is not paused while others work', async () => {
  at.model.script({ calls: [at.wish(240), at.wish(250, 'B2')] }, answer)
  const tools = [{ toolId: at.refund, version: 'latest', approval: { expiresIn: 'PT1S', onExpiry: 'fail' } }]
  const { id: agentId } = await newAgent(at.runtime.ctx, { tools }, at.model)
  const runId = await at.runtime.start({
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
  await at.paused(runId)
  const working = await at.runtime.wait(runId, ({ status }) => status !== 'paused', 10_000)
  expect([working.status, working.pauseSignals]).toEqual(['running', []])
  expect((await at.runtime.wait(runId, undefined, 15_000)).endTime).toBeDefined()
})

test('a question ends with the visit although the tool it asks about is gone', async () => {
  at.model.script({ calls: [at.wish(240), { name: 'gone', args: { approval_reason: 'x' } }] }, answer)
  const { id: gone } = await createTool(at.runtime.ctx, {
    name: 'gone',
    kind: 'script',
    config: { code: 'return 1' },
  })
  const tools = [at.refund, gone].map((toolId) => ({ toolId, version: 'latest', approval: 'always' }))
  const { id: agentId } = await newAgent(at.runtime.ctx, { tools }, at.model)
  at.model.script({ calls: [at.wish(240), { name: gone, args: { approval_reason: 'x' } }] }, answer)
  const runId = await at.runtime.start({
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
  await at.paused(runId)
  await archiveTool(at.runtime.ctx, { id: gone })
  await at.give(runId, 'approve', { pauseId: 'main:ask#1~2' })
  const after = await at.runtime.wait(
    runId,
    ({ pauseSignals }) => pauseSignals.some(({ id }) => id === 'main:then#1'),
    10_000,
  )
  expect(after.pauseSignals).toHaveLength(1)
  await at.give(runId, 'ok')
  expect((await at.runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
})

test('an object that nobody changed does not count as changed', async () => {
  const { id: nested } = await createTool(at.runtime.ctx, {
    name: 'nested',
    kind: 'script',
    config: { code: 'return args.to' },
    inputSchema: { type: 'object', properties: { to: { type: 'object' } }, required: ['to'] },
  })
  const args = { to: { zip: '1', city: 'Bonn' }, approval_reason: 'x' }
  at.model.script({ calls: [{ name: nested, args }] }, answer)
  const tools = [{ toolId: nested, version: 'latest', approval: { editable: ['to'] } }]
  const { id: agentId } = await newAgent(at.runtime.ctx, { tools }, at.model)
  const runId = await at.runtime.start({
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'x' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
  await at.paused(runId)
  await at.give(runId, 'approve')
  await at.runtime.wait(runId, undefined, 10_000)
  expect(at.toolMessages()).toEqual(['{"zip":"1","city":"Bonn"}'])
})

test('a question hides what its run hides, in its rows and wherever the model repeats it; keys of the API see the call', async () => {
  const iban = 'DE02120300000000202051'
  const { id: pay } = await createTool(at.runtime.ctx, {
    name: 'pay',
    kind: 'script',
    config: { code: 'return 1' },
    inputSchema: { type: 'object', properties: { to: { type: 'object' }, amount: { type: ['number', 'null'] } } },
  })
  const args = { to: { name: 'Ada', iban }, amount: 5, approval_reason: `Pay ${iban}` }
  at.model.script({ calls: [{ name: pay, args }] }, answer)
  const approval = { editable: ['to', 'amount'], title: 'Pay ${args.to.iban}' }
  const { id: agentId } = await newAgent(
    at.runtime.ctx,
    { tools: [{ toolId: pay, version: 'latest', approval }] },
    at.model,
  )
  const runId = await at.runtime.start(
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
  const { pauseSignals } = await at.paused(runId)
  const [asked] = pauseSignals as unknown as { call: { args: object; why: string } }[]
  expect(asked?.call.args).toMatchObject({ to: { iban } })
  const shown = { ...asked, call: { ...asked?.call, args: null } }
  expect(JSON.stringify(shown)).not.toContain(iban)
  expect(pauseSignals).toMatchObject([
    { title: 'Pay ***', actions: [{ id: 'approve', fields: { amount: { type: 'number', default: 5 } } }, {}] },
  ])
  await at.give(runId, 'reject')
  await at.runtime.wait(runId, undefined, 10_000)
})

test('an agent cannot have a tool twice', async () => {
  const tools = [{ toolId: at.refund, version: 'latest', approval: 'always' }, at.refund]
  expect((await refusal(newAgent(at.runtime.ctx, { tools }, at.model))).code).toBe('INVALID_INPUT')
})

test('a retry asks by the present policy, also about a call that needed no decision before', async () => {
  at.model.script({ calls: [at.wish(240)] })
  at.holds = true
  const tools = (approval: unknown) => [{ toolId: at.refund, version: 'latest', approval }]
  const { id: agentId } = await newAgent(at.runtime.ctx, { tools: tools({ when: '${args.amount} > 900' }) }, at.model)
  const runId = await at.runtime.start({
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'x', retry: { maxAttempts: 1 }, timeoutMs: 5_000 },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
  expect((await at.runtime.wait(runId, undefined, 20_000)).status).toBe('failed')
  at.holds = false
  await updateAgent(at.runtime.ctx, { id: agentId, body: { tools: tools('always') } as never })
  at.model.script(answer)
  const { runId: again } = await retryRun(at.runtime.ctx, { runId })
  expect((await at.paused(again)).pauseSignals).toMatchObject([{ call: { args: { amount: 240 } } }])
  await at.give(again, 'approve')
  expect((await at.runtime.wait(again, undefined, 10_000)).status).toBe('completed')
  const keys = at.outside.seen.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toEqual([`${runId}:main:ask:1:2`, `${runId}:main:ask:1:2`])
})
