import { expect, test } from 'vitest'
import { answerOnce } from '@/server/agents/answer-once'
import { createAgent, getAgent } from '@/server/agents/lifecycle'
import { retryRun } from '@/server/runs/retry'
import { invokeAgent } from '@/server/talk/invoke'
import { setAgentLimits } from '@/server/tenants/agent-limits'
import { refusal } from '../workflows/support'
import { Approving, answer } from './approving'
import { newAgent } from './support'

// At a limit, people are asked instead of the step failing. Each answer of the model costs a dollar: 10 tokens in, 5 out.

const at = new Approving()
const ADMINS = ['role:admin']

const wish = (amount: number) => ({ name: at.refund, args: { amount, orderId: 'A1' } })

const priced = (limits: object, approval?: unknown) =>
  newAgent(at.runtime.ctx, {
    model: {
      ...{ provider: 'openai-compatible', modelId: 'm', baseUrl: at.model.url },
      prices: { input: 50_000, output: 100_000 },
    },
    tools: [{ toolId: at.refund, version: 'latest', ...(approval ? { approval } : {}) }],
    limits,
  })
const start = async (limits: object, approval?: unknown) => run((await priced(limits, approval)).id)
const run = (agentId: string) =>
  at.runtime.start({
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'x' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
const workspace = async (limits: object) => setAgentLimits(await at.runtime.as('admin'), { limits })
const ended = (runId: string) => at.runtime.wait(runId, undefined, 10_000)
const asksAgain = (runId: string, id: string) =>
  at.runtime.wait(runId, (now) => now.status === 'paused' && now.pauseSignals[0]?.id === id, 10_000)

test('A14: at a limit people are asked; each time they say Go on, the message may use as much again, once', async () => {
  at.model.script({ calls: [wish(1)] }, { calls: [wish(2)] }, { calls: [wish(3)] }, answer)
  const runId = await start({ turn: { cost: 1 }, at: { ask: ADMINS, dueIn: 'PT4H' } })
  const asking = await at.paused(runId)
  expect(asking.pauseSignals).toEqual([
    expect.objectContaining({
      type: 'request_user_action',
      id: 'main:ask#1~3',
      title: 'Orders has reached a limit: One message may cost 1 US dollars',
      actions: [
        { id: 'approve', label: 'Go on' },
        { id: 'reject', label: 'Stop' },
      ],
      assignees: ADMINS,
      dueAt: expect.any(String),
      show: [
        { label: 'Used by this message', value: '15 tokens' },
        { label: 'Its cost so far', value: 'US$ 1' },
      ],
      limit: { of: 'agent', name: 'turn.cost', most: 1 },
    }),
  ])
  expect(asking.pauseSignals[0]).not.toHaveProperty('call')
  expect(at.model.calls).toHaveLength(1)
  await at.give(runId, 'approve')
  await asksAgain(runId, 'main:ask#1~5')
  expect(at.model.calls).toHaveLength(2)
  await at.give(runId, 'approve')
  await asksAgain(runId, 'main:ask#1~7')
  await at.give(runId, 'approve')
  const done = await ended(runId)
  expect(done).toMatchObject({ status: 'completed', stepExecutionHistory: [{ attempt: 1 }, {}] })
  expect(done.data).not.toHaveProperty('actionId')
  expect(at.paid().map(({ amount }) => amount)).toEqual([1, 2, 3])
  expect(at.model.calls).toHaveLength(4)
})

test('Go on adds as much as the limit says, however many calls that is', async () => {
  const rounds = Array.from({ length: 5 }, (_, n) => ({ calls: [wish(n)] }))
  at.model.script(...rounds, answer)
  const runId = await start({ turn: { tokens: 40 }, at: { ask: ADMINS } })
  // 45 tokens after three calls; the next three make it 90.
  await asksAgain(runId, 'main:ask#1~7')
  expect(at.model.calls).toHaveLength(3)
  await at.give(runId, 'approve')
  expect((await ended(runId)).status).toBe('completed')
  expect(at.model.calls).toHaveLength(6)
})

test('Stop fails the step, and so does a question that nobody answers; a retry asks again where it stopped', async () => {
  at.model.script({ calls: [at.wish(1)] }, answer)
  const { id } = await priced({ call: { tokens: 10 }, turn: { cost: 5 }, at: { ask: ADMINS } })
  const runId = await run(id)
  const { pauseSignals } = await at.paused(runId)
  expect(pauseSignals[0]).toMatchObject({ id: 'main:ask#1~1', limit: { name: 'call.tokens', most: 10 } })
  await at.give(runId, 'reject', { remark: 'Too dear.' })
  const stopped = await ended(runId)
  expect(stopped).toMatchObject({
    status: 'failed',
    error: { code: 'BUDGET_EXCEEDED', message: 'One call may have 10 tokens' },
    stepExecutionHistory: [{ attempt: 1 }],
  })
  expect(at.model.calls).toHaveLength(0)
  const again = await retryRun(at.runtime.ctx, { runId } as never)
  await at.paused(again.runId)
  await at.give(again.runId, 'approve')
  // The next call is larger than twice the limit, too.
  await asksAgain(again.runId, 'main:ask#1~3')
  await at.give(again.runId, 'approve')
  expect((await ended(again.runId)).status).toBe('completed')
  at.model.script({ calls: [at.wish(1)] }, answer)
  const late = await ended(await start({ turn: { cost: 1 }, at: { ask: ADMINS, expiresIn: 'PT1S' } }))
  expect(late).toMatchObject({ status: 'failed', error: { code: 'BUDGET_EXCEEDED' } })
})

test('a turn asks about calls of tools and at limits, and both answers count', async () => {
  at.model.script({ calls: [at.wish(200), at.wish(300)] }, { calls: [at.wish(400)] }, answer)
  const runId = await start({ turn: { cost: 1 }, at: { ask: ADMINS } }, { when: '${args.amount} > 200' })
  await asksAgain(runId, 'main:ask#1~3')
  await at.give(runId, 'approve')
  const { pauseSignals } = await asksAgain(runId, 'main:ask#1~4')
  expect(pauseSignals).toMatchObject([{ limit: { name: 'turn.cost' } }])
  await at.give(runId, 'approve')
  await asksAgain(runId, 'main:ask#1~5')
  await at.give(runId, 'reject')
  await asksAgain(runId, 'main:ask#1~6')
  await at.give(runId, 'approve')
  expect((await ended(runId)).status).toBe('completed')
  expect(at.paid().map(({ amount }) => amount)).toEqual([200, 300])
  expect(at.model.calls).toHaveLength(3)
})

test('beyond a limit of a day, the message that goes on may use as much again, and others are asked, too', async () => {
  at.model.answer((_call, index) => (index === 1 ? { calls: [at.wish(1)] } : answer))
  const { id } = await priced({ day: { tokens: 15 }, at: { ask: ADMINS } })
  expect((await ended(await run(id))).status).toBe('completed')
  const runId = await run(id)
  await asksAgain(runId, 'main:ask#1~1')
  const other = await run(id)
  await asksAgain(other, 'main:ask#1~1')
  await at.give(runId, 'approve')
  await asksAgain(runId, 'main:ask#1~3')
  expect((await at.runtime.status(other)).status).toBe('paused')
  await at.give(runId, 'approve')
  expect((await ended(runId)).status).toBe('completed')
  await at.give(other, 'reject')
  expect((await ended(other)).error?.code).toBe('BUDGET_EXCEEDED')
})

test('limits of the workspace ask only whom the workspace names, who are asked about agents without people, too', async () => {
  const anybody = { ask: ['role:operator'] }
  await workspace({ turn: { cost: 1 } })
  at.model.answer((_call, index) => (index === 0 ? { calls: [at.wish(1)] } : answer))
  const failed = await ended(await start({ turn: { cost: 1 }, at: anybody }))
  expect(failed.error?.code).toBe('BUDGET_EXCEEDED')
  await workspace({ turn: { cost: 1 }, at: { ask: ADMINS } })
  at.model.answer((_call, index) => (index < 2 ? { calls: [at.wish(1)] } : answer))
  const both = await start({ turn: { cost: 1 }, at: anybody })
  expect((await at.paused(both)).pauseSignals).toMatchObject([{ assignees: ADMINS, limit: { of: 'workspace' } }])
  await at.give(both, 'approve')
  // The call that was asked about was made; both limits are reached again, and the workspace's comes first.
  const again = await asksAgain(both, 'main:ask#1~5')
  expect(again.pauseSignals).toMatchObject([{ limit: { of: 'workspace' } }])
  await at.give(both, 'approve')
  expect((await ended(both)).status).toBe('completed')
  await workspace({ at: { ask: ADMINS } })
  at.model.answer((_call, index) => (index === 0 ? { calls: [at.wish(1)] } : answer))
  const own = await start({ turn: { cost: 1 } })
  expect((await at.paused(own)).pauseSignals).toMatchObject([{ assignees: ADMINS, limit: { of: 'agent' } }])
  await workspace({})
})

test('where nobody can be asked, the message fails', async () => {
  at.model.answer(() => ({ calls: [at.wish(1)] }))
  const { id } = await priced({ turn: { cost: 1 }, at: { ask: ADMINS } })
  const never = new AbortController().signal
  const invoked = answerOnce(at.runtime.ctx, { agentId: id, body: { message: 'x' } }, never)
  expect((await refusal(invoked)).code).toBe('BUDGET_EXCEEDED')
})

test('an invocation at a limit waits in a run, also before its first call, and is answered once it may continue', async () => {
  const never = new AbortController().signal
  for (const limits of [{ turn: { cost: 1 } }, { call: { tokens: 10 } }]) {
    at.model.answer((_call, index) => (index === 0 ? { calls: [wish(1)] } : answer))
    const { id } = await priced({ ...limits, at: { ask: ADMINS } })
    const waiting = await invokeAgent(at.runtime.ctx, { agentId: id, body: { message: 'x' } }, never)
    if (!('runId' in waiting)) throw new Error('the turn does not wait')
    const { runId } = waiting
    for (const seq of 'call' in limits ? [1, 3] : [3]) {
      await asksAgain(runId, `main:answer#1~${seq}`)
      await at.give(runId, 'approve')
    }
    expect((await ended(runId)).result).toEqual({ answer: { item: 'chairs', amount: 12 } })
    expect(at.model.calls).toHaveLength(2)
  }
})

test('a thread whose turn waits at a limit before its first call takes no other message', async () => {
  at.model.answer(() => answer)
  const { id } = await priced({ day: { tokens: 15 }, at: { ask: ADMINS } })
  const never = new AbortController().signal
  const say = (body: object) => invokeAgent(at.runtime.ctx, { agentId: id, body: { message: 'x', ...body } }, never)
  const { threadId } = await say({})
  const runId = await at.runtime.start({
    steps: [
      { id: 'ask', type: 'call-agent', agentId: id, message: 'y', threadId },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
  await at.paused(runId)
  expect((await refusal(say({ threadId }))).code).toBe('THREAD_WAITING')
  await at.give(runId, 'approve')
  expect((await ended(runId)).status).toBe('completed')
})

test('who is asked at a limit is checked when an agent is saved', async () => {
  const limits = { turn: { cost: 1 }, at: { ask: ADMINS, dueIn: 'PT4H', expiresIn: 'P1D' } }
  const { id } = await newAgent(at.runtime.ctx, { limits })
  expect((await getAgent(at.runtime.ctx, { id })).limits).toEqual(limits)
  const problemOf = async (bad: unknown) => {
    const made = createAgent(at.runtime.ctx, { name: 'A', limits: { at: bad } } as never)
    const { code, details } = await refusal(made)
    return [code, details[0]?.path, details[0]?.message]
  }
  expect(await problemOf({ ask: [] })).toEqual([
    'INVALID_INPUT',
    'limits.at.ask',
    'needs at least one person, group or role',
  ])
  expect(await problemOf({ ask: ['ada'] })).toEqual([
    'INVALID_INPUT',
    'limits.at.ask[0]',
    expect.stringMatching(/^must be user:/),
  ])
  expect(await problemOf({ ask: ['role:admin', 'role:admin'] })).toEqual([
    'INVALID_INPUT',
    'limits.at.ask',
    'names role:admin twice',
  ])
  expect(await problemOf({ ask: ADMINS, dueIn: 'soon' })).toEqual([
    'INVALID_INPUT',
    'limits.at.dueIn',
    expect.stringContaining('ISO 8601'),
  ])
})
