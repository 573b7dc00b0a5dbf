import { expect, test } from 'vitest'
import type { Db } from '@/db/index'
import { getThread } from '@/server/agents/get-thread'
import { getTurn } from '@/server/agents/get-turn'
import { listTurns } from '@/server/agents/list-turns'
import type { EventSource } from '@/server/http/sse'
import { cancelRun } from '@/server/runs/cancel'
import { answerApprovals } from '@/server/talk/approve'
import type { Waiting } from '@/server/talk/await-run'
import { chat, openChat } from '@/server/talk/chat'
import { invokeAgent } from '@/server/talk/invoke'
import { sweepTurns } from '@/server/talk/sweep'
import { Approving, answer } from '../agents/approving'
import { newAgent } from '../agents/support'
import { keyed } from '../support/keyed'
import { refusal } from '../workflows/support'

const at = new Approving()
const never = new AbortController().signal
const ORDER = { item: 'chairs', amount: 12 }

/** An agent that has the tool with this policy. */
async function asks(approval: unknown = 'always', fields: object = {}): Promise<string> {
  const tools = [{ toolId: at.refund, version: 'latest', approval }]
  return (await newAgent(at.runtime.ctx, { tools, ...fields }, at.model)).id
}

async function invoke(agentId: string, body: object = {}, ctx = at.runtime.ctx): Promise<Waiting> {
  const answer = await invokeAgent(ctx, { agentId, body: { message: 'x', ...body } }, never)
  if (!('turnId' in answer)) throw new Error('the turn does not wait')
  return answer
}

const approve = (agentId: string, { threadId, turnId }: Waiting, more: object = {}) =>
  answerApprovals(
    at.runtime.ctx,
    { agentId, threadId, body: { approvals: [{ approvalId: `${turnId}.2`, approved: true, ...more }] } },
    never,
  )

async function events(source: EventSource | null): Promise<{ id?: string; event: string; data: never }[]> {
  const all: { id?: string; event: string; data: never }[] = []
  for await (const event of source?.(never) ?? []) all.push(event as never)
  return all
}
const names = (all: { event: string }[]) => all.map(({ event }) => event)

test('an invocation that asks returns its questions, and its answer once a person has approved', async () => {
  const agentId = await asks({ when: '${args.amount} > 100', title: 'Refund ${args.amount}' })
  at.model.script({ calls: [at.wish(240)] }, answer)
  const waiting = await invoke(agentId)
  expect(waiting).toMatchObject({ data: null, status: 'paused', pauseSignal: { title: 'Refund 240' } })
  expect(waiting.pauseSignals).toMatchObject([{ id: 'main:answer#1~2', call: { args: { amount: 240 } } }])
  expect(at.paid()).toEqual([])
  const answered = await approve(agentId, waiting)
  expect(answered).toMatchObject({ data: ORDER, threadId: waiting.threadId, metadata: { rounds: 1, toolCalls: 1 } })
  expect(at.paid()).toEqual([{ amount: 240, orderId: 'A1' }])
  expect(at.model.calls).toHaveLength(2)
  // The key is that with which the call would have been made without the run.
  expect(at.outside.seen[0]?.headers['idempotency-key']).toBe(`${waiting.turnId}:2`)
  const { turns } = await getThread(at.runtime.ctx, { agentId, threadId: waiting.threadId }, {})
  expect(turns).toMatchObject([{ message: 'x', answer: JSON.stringify(ORDER) }])
})

test('its answer can be given by resuming the run, and an agent that need not ask never waits', async () => {
  const agentId = await asks({ when: '${args.amount} > 100' })
  at.model.script({ calls: [at.wish(240)] }, answer)
  const { runId } = await invoke(agentId)
  await at.give(runId, 'reject', { remark: 'No.' })
  const run = await at.runtime.wait(runId, undefined, 10_000)
  expect([run.status, run.result, at.paid()]).toEqual(['completed', { answer: ORDER }, []])
  expect(run.workflowName).toBe('Orders')
  at.model.script({ calls: [at.wish(40)] }, answer)
  const answered = await invokeAgent(at.runtime.ctx, { agentId, body: { message: 'x' } }, never)
  expect(answered).toMatchObject({ data: ORDER })
})

test('changed arguments are checked first; an answer counts once', async () => {
  const agentId = await asks({ editable: ['amount'] })
  at.model.script({ calls: [at.wish(240)] }, answer)
  const waiting = await invoke(agentId)
  expect((await refusal(approve(agentId, waiting, { args: { amount: 900 } }))).code).toBe('INVALID_INPUT')
  expect(await approve(agentId, waiting, { args: { amount: 120 } })).toMatchObject({ data: ORDER })
  expect((await refusal(approve(agentId, waiting))).code).toBe('RUN_NOT_PAUSED')
  expect(at.paid()).toEqual([{ amount: 120, orderId: 'A1' }])
})

test('a thread that waits takes no message until its run has ended, however it ends', async () => {
  const agentId = await asks()
  at.model.script(answer, { calls: [at.wish(240)] }, answer)
  const first = await invokeAgent(at.runtime.ctx, { agentId, body: { message: 'x' } }, never)
  const { threadId } = first
  const { runId } = await invoke(agentId, { threadId })
  expect((await refusal(invoke(agentId, { threadId }))).code).toBe('THREAD_WAITING')
  await cancelRun(at.runtime.ctx, { runId })
  await at.runtime.wait(runId, undefined, 10_000)
  expect(await invokeAgent(at.runtime.ctx, { agentId, body: { message: 'x', threadId } }, never)).toMatchObject({
    data: ORDER,
  })
})

test('a chat ends its stream with the questions, and the next one has the answer', async () => {
  const agentId = await asks('always', { outputSchema: null })
  at.model.script({ calls: [at.wish(240)] }, { text: 'It is paid.' })
  const first = await events(
    await openChat(at.runtime.ctx, { body: { agentId, message: 'x' }, lastEventId: null }, never),
  )
  expect(names(first)).toEqual(['tool.call', 'approval.requested', 'message.waiting'])
  const { approvalId, why, args } = first[1]?.data ?? ({} as never)
  const { threadId, runId } = first[2]?.data ?? ({} as never)
  expect([why, args]).toEqual(['The chair is **broken**.', { amount: 240, orderId: 'A1' }])
  const last = first[2]?.id ?? ''
  const resumed = await openChat(at.runtime.ctx, { body: { agentId }, lastEventId: last }, never)
  expect(resumed).toBeNull()
  const body = { agentId, threadId, approvals: [{ approvalId, approved: true }] }
  const second = await events(await openChat(at.runtime.ctx, { body, lastEventId: null }, never))
  expect(names(second)).toEqual(['message.delta', 'message.done'])
  expect(second[1]?.data).toMatchObject({ message: 'It is paid.', threadId })
  expect(at.paid()).toHaveLength(1)
  // A stream that is resumed anywhere has the same end.
  const again = await openChat(at.runtime.ctx, { body: { agentId }, lastEventId: last }, never)
  expect(await events(again)).toEqual(second)
  expect((await at.runtime.wait(runId)).status).toBe('completed')
})

test('a chat that is answered as JSON waits likewise', async () => {
  const agentId = await asks('always', { outputSchema: null })
  at.model.script({ calls: [at.wish(240)] }, { text: 'It is paid.' })
  const waiting = (await chat(at.runtime.ctx, { agentId, message: 'x' }, never)) as Waiting
  expect(waiting).toMatchObject({ status: 'paused', pauseSignals: [{ call: { toolId: at.refund } }] })
  expect(await approve(agentId, waiting, { approved: false, reason: 'No.' })).toMatchObject({ message: 'It is paid.' })
  expect(at.paid()).toEqual([])
})

/** Ends the leases of turns that are under way, as if their processes had died. */
async function die(): Promise<void> {
  const past = new Date(Date.now() - 1_000)
  await at.database.sql`update agent_turns set leased_until = ${past} where leased_until is not null`
  await at.database.sql`update thread_turns set leased_until = ${past}`
}

/** How many results of tools are stored as events. */
let results = 0

test.each(['a reader', 'the sweep'])('a stream whose process died is continued by a run, through %s', async (who) => {
  const agentId = await asks('never', { outputSchema: null, tools: [at.refund] })
  const wish = { name: at.refund, args: { amount: 40, orderId: 'A1' } }
  at.model.script({ calls: [wish] }, { hang: true }, { text: 'It is paid.' })
  const stream = await openChat(at.runtime.ctx, { body: { agentId, message: 'x' }, lastEventId: null }, never)
  const seen = []
  for await (const event of stream?.(never) ?? []) {
    seen.push(event)
    if (event.event === 'tool.result') break
  }
  await expect.poll(() => at.model.calls.length).toBe(2)
  // A position that nobody stored may be in the middle of an answer.
  await expect
    .poll(async () => (await at.database.sql`select 1 from chat_events where event = 'tool.result'`).length)
    .toBe(++results)
  await die()
  const { db, log, now } = at.runtime.ctx
  if (who === 'the sweep') expect(await sweepTurns({ db: db as never, log, now })).toBe(1)
  const lastEventId = seen.at(-1)?.id ?? ''
  const rest = await events(await openChat(at.runtime.ctx, { body: { agentId }, lastEventId }, never))
  expect(names(rest)).toEqual(['message.delta', 'message.done'])
  // The call of the tool and the answer that asked for it were recorded.
  expect([at.paid().length, at.model.calls.length]).toEqual([1, 3])
})

test('turns of invoke and chat are listed with their answers, each to its own caller', async () => {
  const agentId = await asks({ when: '${args.amount} > 100' })
  at.model.script({ calls: [at.wish(240)] }, answer, answer, { status: 400 })
  const waiting = await invoke(agentId)
  const one = async (ctx = at.runtime.ctx) => getTurn(ctx, { agentId, turnId: waiting.turnId }, {})
  expect(await one()).toMatchObject({ via: 'invoke', state: 'waiting', runId: waiting.runId, answer: null })
  const answered = await approve(agentId, waiting)
  expect(await one()).toMatchObject({ state: 'done', answer: answered, calls: [{ seq: 1 }, { seq: 2 }, { seq: 3 }] })
  const ada = { ...at.runtime.ctx, actor: { kind: 'jwt', id: 'ada', secretId: 'sec', role: 'operator' } as const }
  const { threadId } = await invokeAgent(ada, { agentId, body: { message: 'x' } }, never)
  await refusal(invokeAgent(ada, { agentId, body: { message: 'x', threadId } }, never))
  const listed = async (ctx: typeof at.runtime.ctx) => (await listTurns(ctx, agentId, {})).turns
  expect(await listed(ada)).toMatchObject([{ via: 'invoke', state: 'done', runId: null, stepId: null, threadId }])
  expect(await listed(at.runtime.ctx)).toHaveLength(2)
  expect((await refusal(one(ada))).code).toBe('TURN_NOT_FOUND')
})

test('an agent without tools costs two statements with the read of the agent, in a thread that exists six', async () => {
  const { id: agentId } = await newAgent(at.runtime.ctx, {}, at.model)
  at.model.answer(() => answer)
  const say = (body: object) => invokeAgent(at.runtime.ctx, { agentId, body: { message: 'x', ...body } }, never)
  const { threadId } = await say({})
  const statements: string[] = []
  const { $client } = at.runtime.ctx.db as Db
  const debug = (_connection: number, text: string) => statements.push(text)
  for (const { options } of [$client, $client.rows]) Object.assign(options, { debug })
  const once = async (body: object) => {
    statements.length = 0
    await say(body)
    return statements.filter((text) => /agents|threads|thread_turns|messages|agent_turns/.test(text)).length
  }
  // The sweep of each minute may fall into one of them.
  const counted = async (body: object) => Math.min(await once(body), await once(body), await once(body))
  expect([await counted({}), await counted({ threadId })]).toEqual([2, 6])
})

test('a stream that broke off in the middle of an answer takes back what it had said', async () => {
  const agentId = await asks('never', { outputSchema: null, tools: [] })
  at.model.answer((_call, index) => (index === 0 ? { text: 'It is', stalls: true } : { text: 'It is paid.' }))
  const source = await openChat(at.runtime.ctx, { body: { agentId, message: 'x' }, lastEventId: null }, never)
  const first = await source?.(never).next()
  expect(first?.value).toMatchObject({ event: 'message.delta' })
  await expect
    .poll(async () => (await at.database.sql`select 1 from chat_events where seq = 1`).length)
    .toBeGreaterThan(0)
  await die()
  const lastEventId = first?.value?.id ?? ''
  const rest = await events(await openChat(at.runtime.ctx, { body: { agentId }, lastEventId }, never))
  // Another piece may have been stored before.
  expect(names(rest).slice(-3)).toEqual(['message.restart', 'message.delta', 'message.done'])
})

test('a repeat of a keyed stream that asks gets its questions, and leaves the thread free', async () => {
  const agentId = await asks('always', { outputSchema: null })
  at.model.script({ calls: [at.wish(240)] }, { text: 'It is paid.' })
  const ctx = { ...at.runtime.ctx, keyed: keyed('a key') }
  const open = async () => events(await openChat(ctx, { body: { agentId, message: 'x' }, lastEventId: null }, never))
  const first = await open()
  const { threadId } = first.at(-1)?.data ?? ({} as never)
  expect(await open()).toEqual(first)
  expect(await at.database.sql`select 1 from thread_turns where thread_id = ${threadId}`).toHaveLength(0)
  const { approvalId } = first.at(-2)?.data ?? ({} as never)
  const body = { agentId, threadId, approvals: [{ approvalId, approved: true }] }
  expect(names(await events(await openChat(at.runtime.ctx, { body, lastEventId: null }, never)))).toEqual([
    'message.delta',
    'message.done',
  ])
  expect(at.paid()).toHaveLength(1)
})

test('a member may let an agent ask in the thread of a subject', async () => {
  const agentId = await asks()
  at.model.script(answer, { calls: [at.wish(240)] }, answer)
  const ada = { ...at.runtime.ctx, actor: { kind: 'jwt', id: 'ada', secretId: 'sec', role: 'operator' } as const }
  const { threadId } = await invokeAgent(ada, { agentId, body: { message: 'x' } }, never)
  expect(await approve(agentId, await invoke(agentId, { threadId }))).toMatchObject({ data: ORDER, threadId })
})

test('a stream that is resumed where it asked gets what the agent asks next', async () => {
  const agentId = await asks('always', { outputSchema: null })
  at.model.script({ calls: [at.wish(240)] }, { calls: [at.wish(50)] }, { text: 'It is paid.' })
  const first = await events(
    await openChat(at.runtime.ctx, { body: { agentId, message: 'x' }, lastEventId: null }, never),
  )
  const { id = '', data } = first.at(-1) ?? {}
  const { runId } = data ?? ({} as never)
  const [before] = (await at.paused(runId)).pauseSignals
  await at.give(runId, 'approve')
  await at.runtime.wait(
    runId,
    ({ status, pauseSignals }) => status === 'paused' && pauseSignals[0]?.id !== before?.id,
    10_000,
  )
  const resume = async (lastEventId: string) => openChat(at.runtime.ctx, { body: { agentId }, lastEventId }, never)
  const second = await events(await resume(id))
  expect(names(second)).toEqual(['approval.requested', 'message.waiting'])
  expect(await resume(second.at(-1)?.id ?? '')).toBeNull()
})
