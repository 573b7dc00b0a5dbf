import { expect, test } from 'vitest'
import { getTurn } from '@/server/agents/get-turn'
import { cancelRun } from '@/server/runs/cancel'
import { retryRun } from '@/server/runs/retry'
import { terminateRun } from '@/server/runs/terminate'
import type { Waiting } from '@/server/talk/await-run'
import { openChat } from '@/server/talk/chat'
import { invokeAgent } from '@/server/talk/invoke'
import { sweepTurns } from '@/server/talk/sweep'
import { Approving, answer } from '../agents/approving'
import { history, newAgent } from '../agents/support'
import { refusal } from '../workflows/support'

const at = new Approving()
const never = new AbortController().signal
const MINUTE = 60_000
const UNUSED = 2 * 86_400_000

async function asks(fields: object = {}): Promise<string> {
  const tools = [{ toolId: at.refund, version: 'latest', approval: 'always' }]
  return (await newAgent(at.runtime.ctx, { tools, ...fields }, at.model)).id
}

const say = (agentId: string, body: object = {}, ctx = at.runtime.ctx) =>
  invokeAgent(ctx, { agentId, body: { message: 'x', ...body } }, never)

/** An invocation that waits in a new thread. */
async function waits(ctx = at.runtime.ctx) {
  const agentId = await asks()
  at.model.script({ calls: [at.wish(240)] })
  return { agentId, ...((await say(agentId, {}, ctx)) as Waiting) }
}

async function giveUp(runId: string): Promise<void> {
  await cancelRun(at.runtime.ctx, { runId })
  await at.runtime.wait(runId)
}

function sweep(afterMs = UNUSED + MINUTE): Promise<number> {
  const { db, log } = at.runtime.ctx
  return sweepTurns({ db: db as never, log, now: () => new Date(Date.now() + afterMs) })
}

const isThere = async (threadId: string) =>
  (await at.database.sql`select 1 from threads where id = ${threadId}`).length > 0

test.each([
  ['cancelled', giveUp],
  ['terminated', async (runId: string) => void (await terminateRun(at.runtime.ctx, { runId }))],
  ['rejected and without an answer', (runId: string) => fails(runId, { status: 400 })],
  ['rejected and with an answer that does not match', (runId: string) => fails(runId, { text: 'no' }, { text: 'no' })],
])('the thread of a message whose run was %s goes; its turn stays', async (_how, end) => {
  const { agentId, turnId, threadId, runId } = await waits()
  await sweep()
  expect(await isThere(threadId)).toBe(true)
  await end(runId)
  await sweep()
  expect(await isThere(threadId)).toBe(false)
  const turn = await getTurn(at.runtime.ctx, { agentId, turnId }, {})
  expect(turn).toMatchObject({ state: 'failed', runId, threadId: null, calls: [{ seq: 1 }, ...turn.calls.slice(1)] })
})

async function fails(runId: string, ...answers: object[]): Promise<void> {
  at.model.script(...(answers as never[]))
  await at.give(runId, 'reject')
  expect((await at.runtime.wait(runId, undefined, 30_000)).status).toBe('failed')
}

test('a thread in which something else was said stays', async () => {
  const { agentId, threadId, runId } = await waits()
  await giveUp(runId)
  at.model.script(answer)
  await say(agentId, { threadId })
  await sweep()
  expect(await history(at.runtime.ctx, threadId)).toHaveLength(2)
})

test('a thread stays while somebody is about to speak in it, also if they come during the sweep', async () => {
  const { threadId, runId } = await waits()
  await giveUp(runId)
  const { sql } = at.database
  const { tenantId } = at.runtime.ctx
  const swept = await sql.begin(async (tx) => {
    await tx`update threads set tickets = tickets + 1 where id = ${threadId}`
    await tx`insert into thread_turns (tenant_id, thread_id, ticket, leased_until)
      values (${tenantId}, ${threadId}, 99, now() + interval '1 minute')`
    // It waits for this transaction.
    const sweeping = sweep()
    await expect
      .poll(async () => (await sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'`).length)
      .toBeGreaterThan(0)
    return { sweeping }
  })
  await swept.sweeping
  await sweep()
  expect(await isThere(threadId)).toBe(true)
  await sql`delete from thread_turns where thread_id = ${threadId}`
  await sweep()
  expect(await isThere(threadId)).toBe(false)
})

test('a thread stays while another message waits in it', async () => {
  const first = await waits()
  await giveUp(first.runId)
  at.model.script({ calls: [at.wish(50)] })
  const second = (await say(first.agentId, { threadId: first.threadId })) as Waiting
  await sweep()
  expect(await isThere(first.threadId)).toBe(true)
  await giveUp(second.runId)
  await sweep()
  expect(await isThere(first.threadId)).toBe(false)
  expect((await refusal(say(first.agentId, { threadId: first.threadId }))).code).toBe('THREAD_NOT_FOUND')
})

test('a thread stays with the files of its message, which a retry would need, for two days, and no longer', async () => {
  const { threadId, runId } = await waits()
  const { sql } = at.database
  await sql`insert into files (tenant_id, id, thread_id, name, declared_type, sniffed_type, size, sha256, created_at)
    values (${at.runtime.ctx.tenantId}, gen_random_uuid(), ${threadId}, 'a', 'text/plain', 'text/plain', 1, 'x', now())`
  await giveUp(runId)
  await sweep(UNUSED - MINUTE)
  expect(await isThere(threadId)).toBe(true)
  await sweep()
  expect(await isThere(threadId)).toBe(false)
})

test('a thread stays while a step that speaks in it waits to try again', async () => {
  const { agentId, threadId, runId: first } = await waits()
  await giveUp(first)
  const ended = Date.now()
  at.model.script({ status: 503, headers: { 'retry-after-ms': '8000' } }, answer)
  const calls = at.model.calls.length
  const ask = { id: 'ask', type: 'call-agent', agentId, threadId, message: 'x', timeoutMs: 5_000 }
  const end = { id: 'end', type: 'end-flow' }
  const runId = await at.runtime.start({ steps: [ask, end], edges: [{ from: 'ask', to: 'end' }] })
  await expect.poll(() => at.model.calls.length, { timeout: 10_000 }).toBe(calls + 1)
  const lease = () => at.database.sql`select 1 from thread_turns where thread_id = ${threadId}`
  await expect.poll(lease, { timeout: 6_000 }).toHaveLength(0)
  await sweep(ended + UNUSED - Date.now())
  expect(at.model.calls).toHaveLength(calls + 1)
  expect((await at.runtime.wait(runId)).status).toBe('completed')
  expect(await history(at.runtime.ctx, threadId)).toHaveLength(2)
})

test('the thread of a stream goes, too', async () => {
  const agentId = await asks({ outputSchema: null })
  at.model.script({ calls: [at.wish(240)] })
  const source = await openChat(at.runtime.ctx, { body: { agentId, message: 'x' }, lastEventId: null }, never)
  const all: { id?: string; data: Record<string, string> }[] = []
  for await (const event of source?.(never) ?? []) all.push(event as never)
  const { id: lastEventId = '', data } = all.at(-1) ?? { data: {} }
  const { threadId = '', runId = '' } = data
  await giveUp(runId)
  await sweep(UNUSED - MINUTE)
  const rest = await openChat(at.runtime.ctx, { body: { agentId }, lastEventId }, never)
  for await (const event of rest?.(never) ?? []) expect(event).toMatchObject({ event: 'error', data: { threadId } })
  await sweep()
  expect(await isThere(threadId)).toBe(false)
})

test('a retry answers in the thread that was gone, for the same subject', async () => {
  const ada = { ...at.runtime.ctx, actor: { kind: 'jwt', id: 'ada', secretId: 'sec', role: 'operator' } as const }
  const { agentId, turnId, threadId, runId: first } = await waits(ada)
  await giveUp(first)
  await sweep()
  const { runId } = await retryRun(at.runtime.ctx, { runId: first })
  await at.paused(runId)
  at.model.script(answer)
  await at.give(runId, 'approve')
  expect((await at.runtime.wait(runId)).status).toBe('completed')
  expect(await getTurn(ada, { agentId, turnId }, {})).toMatchObject({ state: 'done', threadId, answer: { threadId } })
  at.model.script(answer)
  expect(await say(agentId, { threadId }, ada)).toMatchObject({ threadId })
  await sweep()
  expect(await history(at.runtime.ctx, threadId)).toHaveLength(6)
})
