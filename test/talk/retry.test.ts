import { expect, test } from 'vitest'
import { getTurn } from '@/server/agents/get-turn'
import { updateAgent } from '@/server/agents/lifecycle'
import { listCalls } from '@/server/runs/calls'
import { rerunRun } from '@/server/runs/rerun'
import { retryRun } from '@/server/runs/retry'
import { answerApprovals } from '@/server/talk/approve'
import type { Waiting } from '@/server/talk/await-run'
import { chat } from '@/server/talk/chat'
import { invokeAgent } from '@/server/talk/invoke'
import { getRunOverview } from '@/server/views/runs/overview'
import { Approving, answer } from '../agents/approving'
import { history, newAgent } from '../agents/support'
import { keyed } from '../support/keyed'
import { outcome, refusal } from '../workflows/support'

const at = new Approving()
const never = new AbortController().signal
const ORDER = { item: 'chairs', amount: 12 }

async function asks(): Promise<string> {
  const tools = [{ toolId: at.refund, version: 'latest', approval: 'always' }]
  return (await newAgent(at.runtime.ctx, { tools }, at.model)).id
}

async function invoke(agentId: string, key: string | null = null): Promise<Waiting> {
  const ctx = key === null ? at.runtime.ctx : { ...at.runtime.ctx, keyed: keyed(key) }
  return (await invokeAgent(ctx, { agentId, body: { message: 'x' } }, never)) as Waiting
}

const approve = (agentId: string, { threadId, turnId }: Waiting) =>
  answerApprovals(
    at.runtime.ctx,
    { agentId, threadId, body: { approvals: [{ approvalId: `${turnId}.2`, approved: true }] } },
    never,
  )

/** An invocation whose call was approved and made, before its model gave no more answer. */
async function failed(key: string | null = null) {
  const agentId = await asks()
  at.model.script({ calls: [at.wish(240)] }, { status: 400 })
  const waiting = await invoke(agentId, key)
  expect((await refusal(approve(agentId, waiting))).code).toBe('MODEL_ERROR')
  expect(at.paid()).toHaveLength(1)
  return { agentId, ...waiting }
}

const retry = (runId: string) => retryRun(at.runtime.ctx, { runId })
const turnOf = ({ agentId, turnId }: { agentId: string; turnId: string }) =>
  getTurn(at.runtime.ctx, { agentId, turnId }, {})

test('a retry answers the message that failed: no call is made again, and its turn and thread have the answer', async () => {
  const old = await failed()
  expect(await turnOf(old)).toMatchObject({ state: 'failed', errorCode: 'MODEL_ERROR', answer: null })
  const { calls } = await listCalls(at.runtime.ctx, old.runId, {})
  await updateAgent(at.runtime.ctx, { id: old.agentId, body: { instructions: 'New.' } })
  at.model.script(answer)
  const { runId } = await retry(old.runId)
  expect(await at.runtime.wait(runId)).toMatchObject({ status: 'completed', result: { answer: ORDER } })
  expect(at.paid()).toHaveLength(1)
  expect(at.model.calls.at(-1)?.body.messages[0].content).toContain('New.')
  expect(await turnOf(old)).toMatchObject({ state: 'done', runId, version: 2, answer: { data: ORDER } })
  expect(await history(at.runtime.ctx, old.threadId)).toHaveLength(4)
  // The first run stays as it is.
  const kept = await listCalls(at.runtime.ctx, old.runId, {})
  const bare = (all: typeof calls) => all.map(({ turnId: _of, ...call }) => call)
  expect(bare(kept.calls)).toEqual(bare(calls))
  expect((await at.runtime.wait(old.runId)).status).toBe('failed')
})

test('a repeat of the request with its key gets the answer of the retry', async () => {
  const old = await failed('a key')
  at.model.script(answer)
  await retry(old.runId)
  expect(await invoke(old.agentId, 'a key')).toMatchObject({ data: ORDER, threadId: old.threadId })
  expect([at.paid().length, at.model.calls.length]).toEqual([1, 1])
})

test('of simultaneous retries one answers the message, and later ones are refused', async () => {
  const old = await failed()
  at.model.script(answer, answer, answer)
  const all = await Promise.all([1, 2, 3].map(() => outcome(retry(old.runId))))
  expect(all.filter((one) => one === 'CONFLICT')).toHaveLength(2)
  expect(await outcome(retry(old.runId))).toBe('CONFLICT')
  await expect.poll(async () => (await turnOf(old)).state).toBe('done')
  expect(await history(at.runtime.ctx, old.threadId)).toHaveLength(4)
  expect((await getRunOverview(at.runtime.ctx, { runId: old.runId })).retry).toBeNull()
})

test('a retry that fails is retried itself, with all calls of both', async () => {
  const old = await failed()
  const one = { calls: [at.wish(50)] }
  at.model.script(one, { status: 400 })
  const { runId } = await retry(old.runId)
  await at.paused(runId)
  await at.give(runId, 'approve')
  expect((await at.runtime.wait(runId)).status).toBe('failed')
  expect((await getRunOverview(at.runtime.ctx, { runId })).retry).toMatchObject({ stepId: 'answer', same: false })
  at.model.script(answer)
  const last = await retry(runId)
  expect((await at.runtime.wait(last.runId)).status).toBe('completed')
  expect(at.paid()).toHaveLength(2)
  expect(at.outside.seen[1]?.headers['idempotency-key']).toBe(`${runId}:main:answer:1:4`)
})

test('a retry keeps what agents did that were handed a message, and the first run its record of it', async () => {
  const { ctx } = at.runtime
  const model = (modelId: string) => ({ provider: 'openai-compatible', modelId, baseUrl: at.model.url })
  const tools = [{ toolId: at.refund, version: 'latest', approval: 'always' }]
  const clerk = await newAgent(ctx, { model: model('clerk'), tools })
  const boss = await newAgent(ctx, { model: model('boss'), supervisor: true, handoffs: [clerk.id] })
  const over = { calls: [{ name: `handoff_${clerk.id}`, args: { message: 'x' } }] }
  at.model.script(over, { calls: [at.wish(240)] }, { status: 400 })
  const waiting = (await chat(ctx, { agentId: boss.id, message: 'x' }, never)) as Waiting
  await at.give(waiting.runId, 'approve')
  expect((await at.runtime.wait(waiting.runId)).status).toBe('failed')
  const { calls } = await listCalls(ctx, waiting.runId, {})
  await updateAgent(ctx, { id: clerk.id, body: { instructions: 'New.' } })
  at.model.script(answer, { text: 'Done.' })
  const { runId } = await retry(waiting.runId)
  expect((await at.runtime.wait(runId)).status).toBe('completed')
  expect([at.paid().length, at.model.calls.map(({ body }) => body.model)]).toEqual([1, ['clerk', 'boss']])
  const names = (all: typeof calls) =>
    all.map(({ kind, name, seq, handedOverBy }) => [kind, name, seq, handedOverBy?.seq])
  expect(names((await listCalls(ctx, waiting.runId, {})).calls)).toEqual(names(calls))
  expect(calls).toHaveLength(3)
  expect((await listCalls(ctx, runId, {})).calls.map(({ turnId }) => turnId)).toContain(`${waiting.turnId}-2`)
  expect(await turnOf({ agentId: boss.id, turnId: waiting.turnId })).toMatchObject({ state: 'done', runId })
})

test('a run that answered its message is neither retried nor run again', async () => {
  const agentId = await asks()
  at.model.script({ calls: [at.wish(240)] }, answer)
  const waiting = await invoke(agentId)
  await approve(agentId, waiting)
  expect(await outcome(retry(waiting.runId))).toBe('CONFLICT')
  const { code, message } = await refusal(rerunRun(at.runtime.ctx, { runId: waiting.runId, body: {} }))
  expect([code, message]).toEqual(['CONFLICT', expect.stringContaining('Send the message again')])
  expect(at.paid()).toHaveLength(1)
})
