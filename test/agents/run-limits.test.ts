import { expect, test } from 'vitest'
import { createWorkflow, duplicateWorkflow, getWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { simulateWorkflow } from '@/server/workflows/simulate'
import { refusal } from '../workflows/support'
import { Approving, answer } from './approving'
import { newAgent } from './support'

// What all agents of a run may use together. Each answer of the model costs a dollar: 10 tokens in, 5 out.

const at = new Approving()

const priced = (limits: object = {}) =>
  newAgent(at.runtime.ctx, {
    model: {
      ...{ provider: 'openai-compatible', modelId: 'm', baseUrl: at.model.url },
      prices: { input: 50_000, output: 100_000 },
    },
    tools: [at.refund],
    limits,
  })
const wish = (amount: number) => ({ name: at.refund, args: { amount, orderId: 'A1' } })
const twice = async (agents: object, limits: object = {}) => {
  const { id: agentId } = await priced(limits)
  return {
    steps: [
      { id: 'one', type: 'call-agent', agentId, message: 'x' },
      { id: 'two', type: 'call-agent', agentId, message: 'y' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [
      { from: 'one', to: 'two' },
      { from: 'two', to: 'end' },
    ],
    limits: { agents },
  }
}
const ended = (runId: string) => at.runtime.wait(runId, undefined, 10_000)

test('the agents of a run stop together at the first call after its limit, and each run counts alone', async () => {
  at.model.answer((_call, index) => (index === 1 ? { calls: [wish(1)] } : answer))
  const failed = await ended(await at.runtime.start(await twice({ cost: 2 })))
  expect(failed).toMatchObject({
    status: 'failed',
    error: { code: 'BUDGET_EXCEEDED', message: 'The agents of a run may use 2 US dollars together' },
  })
  expect(failed.currentStepId ?? failed.stepExecutionHistory.at(-1)?.stepId).toBe('two')
  expect(at.model.calls).toHaveLength(2)
  at.model.answer(() => answer)
  expect((await ended(await at.runtime.start(await twice({ tokens: 16 })))).status).toBe('completed')
  const tokens = await ended(await at.runtime.start(await twice({ tokens: 15 })))
  expect(tokens.error).toMatchObject({ message: 'The agents of a run may use 15 tokens together' })
})

test('at the limit of a run, the people of the agent are asked, and the message may use as much again', async () => {
  at.model.answer((_call, index) => (index === 1 ? { calls: [wish(1)] } : answer))
  const runId = await at.runtime.start(await twice({ cost: 1 }, { at: { ask: ['role:admin'] } }))
  const asking = await at.paused(runId)
  expect(asking.pauseSignals).toMatchObject([
    { id: 'main:two#1~1', limit: { of: 'run', name: 'run.cost', most: 1 }, assignees: ['role:admin'] },
  ])
  await at.give(runId, 'approve')
  await at.runtime.wait(runId, (run) => run.pauseSignals[0]?.id === 'main:two#1~3', 10_000)
  await at.give(runId, 'approve')
  expect((await ended(runId)).status).toBe('completed')
  expect(at.model.calls).toHaveLength(3)
})

test('branches that call models at once exceed the limit of a run by no more than their own calls', async () => {
  at.model.answer(() => ({ ...answer, delayMs: 200 }))
  const { id: agentId } = await priced()
  const runId = await at.runtime.start({
    steps: [
      { id: 'each', type: 'for-each', items: [1, 2, 3, 4, 5, 6], concurrency: 3 },
      { id: 'ask', type: 'call-agent', agentId, message: 'x' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [
      { from: 'each', to: 'ask', on: 'each' },
      { from: 'each', to: 'end', on: 'done' },
    ],
    limits: { agents: { cost: 1 } },
  })
  expect((await ended(runId)).status).toBe('failed')
  expect(at.model.calls.length).toBeGreaterThan(0)
  expect(at.model.calls.length).toBeLessThanOrEqual(3)
})

test('the limit is checked on save, kept by a copy, and absent if nothing is set', async () => {
  const { ctx } = at.runtime
  const make = (limits: unknown) => createWorkflow(ctx, { name: 'W', ...NOTHING, limits } as never)
  const limits = { timeoutMs: 60_000, agents: { tokens: 100_000, cost: 0.5 } }
  const { id } = await make(limits)
  expect(await getWorkflow(ctx, { id })).toMatchObject({ limits })
  expect(await duplicateWorkflow(ctx, { id })).toMatchObject({ limits })
  expect(await make({ agents: {} })).not.toHaveProperty('limits')
  expect(await make({ agents: { cost: 1 } })).toMatchObject({ limits: { agents: { cost: 1 } } })
  for (const [agents, path] of [
    [{ tokens: 0 }, 'limits.agents.tokens'],
    [{ cost: -1 }, 'limits.agents.cost'],
    [{ calls: 1 }, 'limits.agents'],
  ] as const) {
    const { code, details } = await refusal(make({ agents }))
    expect([code, details[0]?.path]).toEqual(['INVALID_INPUT', path])
  }
})

const NOTHING = { steps: [{ id: 'end', type: 'end-flow' }], edges: [] }

test('a simulation names the steps whose agents may ask people at a limit, which publish does not warn of', async () => {
  const people = { ask: ['role:admin'] }
  const { id: limited } = await newAgent(at.runtime.ctx, { limits: { turn: { tokens: 9 }, at: people } })
  const { id: asking } = await newAgent(at.runtime.ctx, { limits: { at: people } })
  const definition = {
    name: 'Asks',
    steps: [
      { id: 'limited', type: 'call-agent', message: 'x', agentId: limited },
      { id: 'asking', type: 'call-agent', message: 'x', agentId: asking },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [
      { from: 'limited', to: 'asking' },
      { from: 'asking', to: 'end' },
    ],
  }
  const { id } = await createWorkflow(at.runtime.ctx, definition)
  expect((await simulateWorkflow(at.runtime.ctx, { id, body: {} })).mayAsk).toEqual(['limited'])
  const { id: ofRun } = await createWorkflow(at.runtime.ctx, { ...definition, limits: { agents: { tokens: 9 } } })
  expect((await simulateWorkflow(at.runtime.ctx, { id: ofRun, body: {} })).mayAsk).toEqual(['limited', 'asking'])
  const { warnings } = await publishWorkflow(at.runtime.ctx, { id })
  expect(warnings.filter(({ code }) => code === 'W_APPROVAL')).toEqual([])
})
