import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { expect, test } from 'vitest'
import { TurnTakenOver } from '@/server/agents/journal/held-turn'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import type { EventSource } from '@/server/http/sse'
import { retryRun } from '@/server/runs/retry'
import { answerApprovals } from '@/server/talk/approve'
import type { Waiting } from '@/server/talk/await-run'
import { chat, openChat } from '@/server/talk/chat'
import { sweepChats } from '@/server/talk/place'
import { openTurnEvents } from '@/server/talk/stream'
import { Approving } from '../agents/approving'
import { newAgent } from '../agents/support'
import { keyed } from '../support/keyed'
import { refusal } from '../workflows/support'

const at = new Approving()
const never = new AbortController().signal
const PAID = { text: 'It is paid.' }

type Event = { id?: string; event: string; data: JsonObject }

const withKey = (key: string): ServiceContext => ({ ...at.runtime.ctx, keyed: keyed(key) })

async function events(source: EventSource | null): Promise<Event[]> {
  const all: Event[] = []
  for await (const event of source?.(never) ?? []) all.push(event as never)
  return all
}
const names = (all: Event[]) => all.map(({ event }) => event)
const open = async (ctx: ServiceContext, body: object, lastEventId: string | null = null) =>
  events(await openChat(ctx, { body: { ...body }, lastEventId }, never))

/** An agent that answers with text and has the tool. */
async function agent(approval: unknown = 'always'): Promise<string> {
  const tools = [{ toolId: at.refund, version: 'latest', ...(approval === null ? {} : { approval }) }]
  return (await newAgent(at.runtime.ctx, { tools, outputSchema: null }, at.model)).id
}

const approve = (agentId: string, { threadId, turnId }: Pick<Waiting, 'threadId' | 'turnId'>, seq = 2) =>
  answerApprovals(
    at.runtime.ctx,
    { agentId, threadId, body: { approvals: [{ approvalId: `${turnId}.${seq}`, approved: true }] } },
    never,
  )

const ticketsOf = async (threadId: unknown) =>
  (await at.database.sql`select distinct ticket from chat_events where thread_id = ${String(threadId)}`).length

/** Each event has an id, and a reader that comes back with it gets exactly those after it. */
async function isWhole(agentId: string, all: Event[]): Promise<void> {
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  for (const [n, { id = '' }] of all.slice(0, -1).entries())
    expect(await open(at.runtime.ctx, { agentId }, id)).toEqual(all.slice(n + 1))
  expect(await openChat(at.runtime.ctx, { body: { agentId }, lastEventId: all.at(-1)?.id ?? '' }, never)).toBeNull()
}

test('a repeat has the same events with the same ids, from any of which it can be resumed', async () => {
  const agentId = await agent(null)
  at.model.script({ calls: [{ name: at.refund, args: { amount: 40, orderId: 'A1' } }] }, PAID)
  const first = await open(withKey('same'), { agentId, message: 'x' })
  expect([...new Set(names(first))]).toEqual(['tool.call', 'tool.result', 'message.delta', 'message.done'])
  expect(await open(withKey('same'), { agentId, message: 'x' })).toEqual(first)
  await isWhole(agentId, first)
  // Once its events are gone, a repeat has the answer.
  await at.database.sql`delete from chat_events`
  const late = await open(withKey('same'), { agentId, message: 'x' })
  expect(late).toMatchObject([{ data: { text: 'It is paid.' } }, { event: 'message.done', data: first.at(-1)?.data }])
  await isWhole(agentId, late)
})

test('any number of repeats as streams of an answer that was JSON are one stream', async () => {
  const agentId = await agent(null)
  at.model.script(PAID)
  const body = { agentId, message: 'x' }
  const json = await chat(withKey('json'), body, never)
  const all = await Promise.all([1, 2, 3, 4, 5].map(() => open(withKey('json'), body)))
  for (const one of all) expect(one).toEqual(all[0])
  expect(all[0]?.at(-1)).toMatchObject({ event: 'message.done', data: JSON.parse(JSON.stringify(json)) })
  expect(await ticketsOf(all[0]?.at(-1)?.data.threadId)).toBe(1)
  await isWhole(agentId, all[0] ?? [])
})

test('a repeat of a stream that asked has its questions, and once they are answered only what follows', async () => {
  const agentId = await agent()
  at.model.script({ calls: [at.wish(240)] }, { calls: [at.wish(50)] }, PAID)
  const body = { agentId, message: 'x' }
  const first = await open(withKey('asks'), body)
  expect(names(first)).toEqual(['tool.call', 'approval.requested', 'message.waiting'])
  expect(await open(withKey('asks'), body)).toEqual(first)
  const { threadId } = first[2]?.data ?? {}
  const turnId = String(first[1]?.data.approvalId).split('.')[0] ?? ''
  const place = { threadId: String(threadId), turnId }
  await approve(agentId, place)
  const second = await open(withKey('asks'), body)
  expect(names(second)).toEqual(['tool.call', 'approval.requested', 'message.waiting'])
  expect(second[1]?.data.args).toEqual({ amount: 50, orderId: 'A1' })
  await approve(agentId, place, 4)
  const third = await open(withKey('asks'), body)
  expect(names(third)).toEqual(['tool.call', 'message.delta', 'message.done'])
  expect([await ticketsOf(threadId), at.paid().length]).toEqual([1, 2])
})

test('approvals of a chat that was JSON are answered with a stream that can be resumed', async () => {
  const agentId = await agent()
  at.model.script({ calls: [at.wish(240)] }, PAID)
  const { threadId, turnId } = (await chat(at.runtime.ctx, { agentId, message: 'x' }, never)) as Waiting
  const approvals = [{ approvalId: `${turnId}.2`, approved: true }]
  const all = await open(at.runtime.ctx, { agentId, threadId, approvals })
  expect(names(all)).toEqual(['message.delta', 'message.done'])
  await isWhole(agentId, all)
})

test('a repeat of a stream whose run failed has the failure, and after a retry the answer', async () => {
  const agentId = await agent()
  at.model.script({ calls: [at.wish(240)] }, { status: 400 })
  const body = { agentId, message: 'x' }
  const { threadId, runId } = (await open(withKey('retried'), body)).at(-1)?.data ?? {}
  const turn = await at.database.sql<{ id: string }[]>`select id from agent_turns where run_id = ${String(runId)}`
  const failure = approve(agentId, { threadId: String(threadId), turnId: turn[0]?.id ?? '' })
  expect((await refusal(failure)).code).toBe('MODEL_ERROR')
  const failed = await open(withKey('retried'), body)
  expect(failed.at(-1)).toMatchObject({ event: 'error', id: expect.any(String), data: { code: 'MODEL_ERROR' } })
  at.model.script(PAID)
  await retryRun(at.runtime.ctx, { runId: String(runId) })
  const retried = await open(withKey('retried'), body)
  expect(retried.at(-1)).toMatchObject({ event: 'message.done', data: { message: 'It is paid.', threadId } })
  await isWhole(agentId, retried)
})

/** Ends the leases of turns that are under way, as if their processes had died. */
async function endLeases(): Promise<void> {
  const past = new Date(Date.now() - 1_000)
  await at.database.sql`update agent_turns set leased_until = ${past} where leased_until is not null`
  await at.database.sql`update thread_turns set leased_until = ${past}`
}

test('once the process of a stream was killed, its readers and a repeat get the same events, and no call is made again', async () => {
  const agentId = await agent(null)
  const wish = { name: at.refund, args: { amount: 40, orderId: 'A1' } }
  at.model.script({ calls: [wish] }, { text: 'It is', stalls: true }, PAID)
  const path = fileURLToPath(new URL('./stream-child.ts', import.meta.url))
  const argv = ['--import', 'tsx', '--conditions=react-server']
  const child = fork(path, [at.database.url, agentId, 'killed'], { execArgv: argv })
  const seen: Event[] = []
  child.on('message', (event: Event) => seen.push(event))
  await expect.poll(() => names(seen), { timeout: 60_000 }).toContain('message.delta')
  const [threadId = ''] = seen[0]?.id?.split('.') ?? []
  await expect
    .poll(
      async () =>
        (
          await at.database.sql`select 1 from chat_events where event = 'message.delta'
      and thread_id = ${threadId}`
        ).length,
    )
    .toBeGreaterThan(0)
  const reader = open(at.runtime.ctx, { agentId }, seen[0]?.id ?? '')
  child.kill('SIGKILL')
  await once(child, 'exit')
  await endLeases()
  const repeat = await open(withKey('killed'), { agentId, message: 'x' })
  expect(names(repeat).slice(0, 2)).toEqual(['tool.call', 'tool.result'])
  expect(names(repeat).slice(-3)).toEqual(['message.restart', 'message.delta', 'message.done'])
  expect(await reader).toEqual(repeat.slice(1))
  for (const event of seen) expect(repeat).toContainEqual(event)
  expect([await ticketsOf(threadId), at.paid().length]).toEqual([1, 1])
}, 120_000)

const turnOf = (event: Event | undefined) => String(event?.data.approvalId).split('.')[0] ?? ''

test('a repeat has the questions that are still open, without those that are answered', async () => {
  const agentId = await agent()
  at.model.script({ calls: [at.wish(240), at.wish(50)] }, PAID)
  const body = { agentId, message: 'x' }
  const first = await open(withKey('some'), body)
  const [question, other] = first.filter(({ event }) => event === 'approval.requested')
  expect(other).toBeDefined()
  await approve(agentId, { threadId: String(first.at(-1)?.data.threadId), turnId: turnOf(question) })
  expect(await open(withKey('some'), body)).toEqual(first.filter((event) => event !== question))
})

test('a repeat has the present questions once, though the clocks of readers and workers differ', async () => {
  const agentId = await agent()
  at.model.script({ calls: [at.wish(240)] }, { calls: [at.wish(50)] })
  const body = { agentId, message: 'x' }
  const first = await open(withKey('clocks'), body)
  const threadId = String(first.at(-1)?.data.threadId)
  await at.database.sql`update chat_events set created_at = now() - interval '1 minute' where thread_id = ${threadId}`
  expect(await open(withKey('clocks'), body)).toEqual(first)
  await at.database.sql`update chat_events set created_at = now() + interval '1 minute' where thread_id = ${threadId}`
  await approve(agentId, { threadId, turnId: turnOf(first[1]) })
  expect((await open(withKey('clocks'), body))[1]?.data.args).toEqual({ amount: 50, orderId: 'A1' })
})

test('a reader that read a failure before a retry, and stores it after, does not end the stream', async () => {
  const agentId = await agent()
  at.model.script({ calls: [at.wish(240)] }, { status: 400 })
  const body = { agentId, message: 'x' }
  const first = await open(withKey('late'), body)
  const { threadId, runId } = first.at(-1)?.data ?? {}
  await refusal(approve(agentId, { threadId: String(threadId), turnId: turnOf(first[1]) }))
  at.model.script(PAID)
  let retried = 0
  const { db, ...ctx } = withKey('late')
  const execute = async (query: SQL) => {
    const stores = /insert into "chat_events".* with ordinality/s.test(new PgDialect().sqlToQuery(query).sql)
    if (stores && retried++ === 0) await retryRun(at.runtime.ctx, { runId: String(runId) })
    return db.execute(query)
  }
  const late = new Proxy(db, {
    get: (target, name) => (name === 'execute' ? execute : Reflect.get(target, name, target)),
  })
  expect((await open({ ...ctx, db: late }, body)).at(-1)).toMatchObject({ event: 'message.done' })
  expect(retried).toBeGreaterThan(0)
})

test('a turn that waits keeps its events, and a repeat after they are gone has others', async () => {
  const agentId = await agent()
  at.model.script({ calls: [at.wish(240)] }, PAID)
  const body = { agentId, message: 'x' }
  const sweep = () => sweepChats(at.runtime.db as never, new Date(Date.now() + 3_700_000))
  const first = await open(withKey('old'), body)
  await sweep()
  expect(await open(withKey('old'), body)).toEqual(first)
  await approve(agentId, { threadId: String(first.at(-1)?.data.threadId), turnId: turnOf(first[1]) })
  const rest = await open(at.runtime.ctx, { agentId }, first.at(-1)?.id ?? '')
  expect(names(rest)).toEqual(['message.delta', 'message.done'])
  await sweep()
  const late = await open(withKey('old'), body)
  expect(late.map(({ data }) => data)).toEqual(rest.map(({ data }) => data))
  await isWhole(agentId, late)
  for (const { id = '' } of [...first, ...rest])
    expect((await refusal(open(at.runtime.ctx, { agentId }, id))).code).toBe('INVALID_INPUT')
})

test('a repeat whose turn a run takes over while it begins has the events of that run', async () => {
  const agentId = await agent()
  at.model.script({ calls: [at.wish(240)] }, PAID)
  const ctx = withKey('overtaken')
  const first = await open(ctx, { agentId, message: 'x' })
  const { place, read } = await openTurnEvents(ctx, null, never, () => Promise.reject(new TurnTakenOver()))
  expect(await events(read)).toEqual(first)
  expect(place.threadId).toBe(first.at(-1)?.data.threadId)
})
