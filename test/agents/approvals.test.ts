import { and, eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { agentCalls, agentTurns } from '@/db/schema/turns'
import { cancelRun } from '@/server/runs/cancel'
import { terminateRun } from '@/server/runs/terminate'
import { until } from '../engine/support'
import { refusal } from '../workflows/support'
import { Approving, answer } from './approving'
import { newAgent } from './support'

const at = new Approving()

test('a call that needs a decision is made once it is approved, with its arguments and its key', async () => {
  at.model.script({ calls: [at.wish(240)] }, answer)
  const runId = await at.start({ when: '${args.amount} > 100', title: 'Refund ${args.amount}' })
  const asking = await at.paused(runId)
  expect(at.paid()).toEqual([])
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
      call: { toolId: at.refund, version: 1, args: { amount: 240, orderId: 'A1' }, why: 'The chair is **broken**.' },
    },
  ])
  expect(asking.stepExecutionHistory.at(-1)).toMatchObject({ stepId: 'ask', status: 'running', attempt: 1 })
  await at.give(runId, 'approve')
  const run = await at.runtime.wait(runId)
  expect(run.status).toBe('completed')
  expect(at.paid()).toEqual([{ amount: 240, orderId: 'A1' }])
  expect(at.outside.seen[0]?.headers['idempotency-key']).toBe(`${runId}:main:ask:1:2`)
  expect(at.model.calls).toHaveLength(2)
  expect(run.stepExecutionHistory[0]).toMatchObject({ attempt: 1, usage: { usage: { totalTokens: 30 } } })
  expect(run.stepExecutionHistory[0]).not.toHaveProperty('attempts')
})

test('a call below the limit is made at once', async () => {
  at.model.script({ calls: [at.wish(40)] }, answer)
  const run = await at.runtime.wait(await at.start({ when: '${args.amount} > 100' }))
  expect([run.status, at.paid()]).toEqual(['completed', [{ amount: 40, orderId: 'A1' }]])
})

test('a call that is rejected is never made, and the model learns why', async () => {
  at.model.script({ calls: [at.wish(240)] }, answer)
  const runId = await at.start('always')
  await at.paused(runId)
  await at.give(runId, 'reject', { remark: 'Send a new chair instead.' })
  expect((await at.runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
  expect(at.paid()).toEqual([])
  expect(at.toolMessages()).toEqual([expect.stringContaining('Send a new chair instead.')])
})

test('a person may change the arguments that the policy names, within the schema of the tool', async () => {
  at.model.script({ calls: [at.wish(240)] }, answer)
  const runId = await at.start({ editable: ['amount'] })
  const { pauseSignals } = await at.paused(runId)
  expect(pauseSignals[0]).toMatchObject({
    actions: [
      { id: 'approve', fields: { amount: { type: 'number', default: 240, label: 'Amount' } } },
      { id: 'reject' },
    ],
  })
  const { code, details } = await refusal(at.give(runId, 'approve', { data: { amount: 501 } }))
  expect([code, details[0]?.path]).toEqual(['INVALID_INPUT', 'data.amount'])
  expect((await at.runtime.status(runId)).status).toBe('paused')
  await at.give(runId, 'approve', { data: { amount: 120, orderId: 'another' } })
  expect((await at.runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
  expect(at.paid()).toEqual([{ amount: 120, orderId: 'A1' }])
  expect(at.toolMessages()).toEqual([expect.stringContaining('A person changed the arguments')])
  const calls = await at.runtime.db
    .select({ decision: agentCalls.decision })
    .from(agentCalls)
    .innerJoin(agentTurns, and(eq(agentTurns.tenantId, agentCalls.tenantId), eq(agentTurns.id, agentCalls.turnId)))
    .where(and(eq(agentTurns.runId, runId), eq(agentCalls.kind, 'tool')))
  expect(calls).toEqual([{ decision: { approved: true, by: at.runtime.ctx.actor.id, args: { amount: 120 } } }])
})

test('several calls are asked about at once; each approved one is made while others still wait', async () => {
  at.model.script({ calls: [at.wish(1), at.wish(2), at.wish(300)] }, answer)
  const runId = await at.start({ when: '${args.amount} > 1' })
  const { pauseSignals } = await at.paused(runId)
  expect(pauseSignals.map(({ id }) => id)).toEqual(['main:ask#1~3', 'main:ask#1~4'])
  expect(at.paid()).toEqual([{ amount: 1, orderId: 'A1' }])
  await at.give(runId, 'approve', { pauseId: 'main:ask#1~4' })
  await until(() => at.outside.seen.length === 2)
  const still = await at.runtime.wait(runId, (run) => run.status === 'paused' && run.pauseSignals.length === 1)
  expect(still.pauseSignals[0]?.id).toBe('main:ask#1~3')
  await at.give(runId, 'reject')
  expect((await at.runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
  expect(at.paid().map(({ amount }) => amount)).toEqual([1, 300])
  expect(at.model.calls).toHaveLength(2)
})

test('answers to all questions at once count, each once', async () => {
  at.model.script({ calls: [at.wish(10), at.wish(20), at.wish(30), at.wish(40)] }, answer)
  const runId = await at.start('always')
  const { pauseSignals } = await at.paused(runId)
  await Promise.all(
    pauseSignals.map(({ id }, index) => at.give(runId, index % 2 === 0 ? 'approve' : 'reject', { pauseId: id })),
  )
  expect((await at.runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
  expect(at.paid().map(({ amount }) => amount)).toEqual([10, 30])
})

test('when time is up, the call is rejected, or the step fails if its policy says so', async () => {
  at.model.script({ calls: [at.wish(240)] }, answer)
  const rejected = await at.runtime.wait(await at.start({ expiresIn: 'PT1S' }))
  expect([rejected.status, at.paid()]).toEqual(['completed', []])
  expect(at.toolMessages()).toEqual([expect.stringContaining('in time')])
  at.model.script({ calls: [at.wish(240), at.wish(250)] }, answer)
  const failed = await at.runtime.wait(await at.start({ expiresIn: 'PT1S', onExpiry: 'fail', title: 'Pay?' }))
  expect(failed).toMatchObject({
    status: 'failed',
    error: { code: 'TIMED_OUT', message: expect.stringContaining('Pay?') },
  })
  expect(at.paid()).toEqual([])
})

test('a failing condition asks, and says why', async () => {
  at.model.script({ calls: [at.wish(240)] }, answer)
  const runId = await at.start({ when: '${args.missing} > 3' })
  const { pauseSignals } = await at.paused(runId)
  expect(JSON.stringify(pauseSignals[0])).toContain('Why a person decides')
  await at.give(runId, 'approve')
  expect((await at.runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
})

test.each(['cancel', 'terminate'])('after a %s no call is made, also not an approved one', async (kind) => {
  at.model.script({ calls: [at.wish(240)] }, answer)
  const runId = await at.start('always')
  await at.paused(runId)
  await (kind === 'cancel' ? cancelRun : terminateRun)(at.runtime.ctx, { runId })
  expect((await at.runtime.wait(runId, undefined, 10_000)).outcome).toBe(kind === 'cancel' ? 'cancelled' : 'terminated')
  expect((await refusal(at.give(runId, 'approve'))).code).toBe('RUN_NOT_PAUSED')
  expect(at.paid()).toEqual([])
})

test('a thread whose turn waits takes no other message until the turn has ended', async () => {
  at.model.script({ text: answer.text }, { calls: [at.wish(240)] }, answer, answer)
  const tools = [{ toolId: at.refund, version: 'latest', approval: 'always' }]
  const { id: agentId } = await newAgent(at.runtime.ctx, { tools }, at.model)
  const { invokeAgent } = await import('@/server/talk/invoke')
  const never = new AbortController().signal
  const say = (body: object) => invokeAgent(at.runtime.ctx, { agentId, body: { message: 'x', ...body } }, never)
  const { threadId } = await say({})
  const runId = await at.runtime.start({
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'y', threadId },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
  await at.paused(runId)
  const { code, details } = await refusal(say({ threadId }))
  expect([code, details[0]]).toEqual(['THREAD_WAITING', expect.objectContaining({ runId })])
  await at.give(runId, 'approve')
  expect((await at.runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
  expect((await say({ threadId })).threadId).toBe(threadId)
})
