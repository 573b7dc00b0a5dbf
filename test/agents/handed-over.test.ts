import type { SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { describe, expect, test } from 'vitest'
import { getTurn } from '@/server/agents/get-turn'
import { updateAgent } from '@/server/agents/lifecycle'
import { listTurns } from '@/server/agents/list-turns'
import { listCalls } from '@/server/runs/calls'
import { retryRun } from '@/server/runs/retry'
import { answerApprovals } from '@/server/talk/approve'
import { chat } from '@/server/talk/chat'
import { readCallList } from '@/server/views/runs/calls'
import { until } from '../engine/support'
import { keyed } from '../support/keyed'
import type { ModelCall, Reply } from '../support/model'
import { sampled } from '../support/sample.mjs'
import { refusal } from '../workflows/support'
import { Approving, answer } from './approving'
import { newAgent } from './support'

// A supervisor, which the model server knows as `boss`, and the agent that it hands messages to, `clerk`.

const at = new Approving()
const never = new AbortController().signal
/** At how many places of a turn a process dies; with SOAK=1, at all. */
const FEW = 8

const isBoss = ({ body }: ModelCall) => body.model === 'boss'
const asked = (by: 'boss' | 'clerk') => at.model.calls.filter(({ body }) => body.model === by).length
/** How often the model has answered in this turn. */
const rounds = ({ body }: ModelCall) =>
  body.messages.filter(({ role }: { role: string }) => role === 'assistant').length
const over = (clerk: string, message = 'Refund it.'): Reply & { calls: unknown[] } => ({
  calls: [{ name: `handoff_${clerk}`, args: { message } }],
})

async function pair(approval?: unknown, more: { clerk?: object; boss?: object } = {}) {
  const model = (modelId: string) => ({ provider: 'openai-compatible', modelId, baseUrl: at.model.url })
  const tools = [{ toolId: at.refund, version: 'latest', ...(approval === undefined ? {} : { approval }) }]
  const { ctx } = at.runtime
  const clerk = await newAgent(ctx, { name: 'Clerk', model: model('clerk'), tools, ...more.clerk })
  const handoffs = { supervisor: true, handoffs: [clerk.id] }
  const boss = await newAgent(ctx, { name: 'Boss', model: model('boss'), ...handoffs, ...more.boss })
  return { clerk: clerk.id, boss: boss.id }
}

/** Of a tool that never asks. */
const wish = (amount: number) => ({ name: at.refund, args: { amount, orderId: 'A1' } })

/** The boss hands one message over, and the clerk refunds this. */
function refunding(clerk: string, amount = 240, end: Reply = answer): void {
  at.model.answer((call) => {
    if (rounds(call) > 0) return isBoss(call) ? answer : end
    return isBoss(call) ? over(clerk) : { calls: [wish(amount)] }
  })
}

const talk = async (agentId: string, key?: string, db = at.runtime.ctx.db) => {
  const { ctx } = at.runtime
  return chat({ ...ctx, db, ...(key ? { keyed: keyed(key) } : {}) }, { agentId, message: 'x' }, never)
}
async function asks(agentId: string) {
  const waiting = await talk(agentId)
  if (!('turnId' in waiting)) throw new Error('the turn does not wait')
  return waiting
}
const subject = (id: string) => ({ kind: 'jwt', id, secretId: 'sec_1', role: 'operator' }) as const
const keys = () => at.outside.seen.map(({ headers }) => headers['idempotency-key'])
const turnsOf = async (agentId: string) => (await listTurns(at.runtime.ctx, agentId, {})).turns
const callsOf = async (agentId: string, turnId = '') => (await getTurn(at.runtime.ctx, { agentId, turnId }, {})).calls

describe('the calls of an agent that was handed a message', () => {
  test('are recorded with the turn that handed it over, under its key and the numbers of both calls', async () => {
    const { boss, clerk } = await pair()
    refunding(clerk, 40)
    const answered = await talk(boss)
    expect(answered).toMatchObject({ usage: { totalTokens: 60 } })
    const [first] = await turnsOf(boss)
    expect(keys()).toEqual([`${first?.id}:2:2`])
    const by = { turnId: first?.id, seq: 2 }
    const calls = await callsOf(boss, first?.id)
    expect(calls.map(({ turnId, seq, kind, handedOverBy }) => [turnId, seq, kind, handedOverBy])).toEqual([
      [first?.id, 1, 'model', undefined],
      [`${first?.id}-2`, 1, 'model', by],
      [`${first?.id}-2`, 2, 'tool', by],
      [`${first?.id}-2`, 3, 'model', by],
      [first?.id, 2, 'tool', undefined],
      [first?.id, 3, 'model', undefined],
    ])
  })

  test('are a turn of that agent, and count in its usage', async () => {
    const { boss, clerk } = await pair()
    refunding(clerk, 40)
    await talk(boss)
    const [first] = await turnsOf(boss)
    const turns = await turnsOf(clerk)
    expect(turns).toMatchObject([
      { via: 'handoff', state: 'done', runId: null, threadId: null, handedOverBy: { turnId: first?.id, seq: 2 } },
    ])
    expect([first, ...turns].map((turn) => turn?.usage.totalTokens)).toEqual([30, 30])
    expect(await callsOf(clerk, turns[0]?.id)).toHaveLength(3)
    const days = await at.database.sql`select key, calls::int from usage_days where key in (${boss}, ${clerk})`
    expect(Object.fromEntries(days.map(({ key, calls }) => [key, calls]))).toEqual({ [boss]: 2, [clerk]: 2 })
  })

  test('are seen by the subject that asked, and by no other', async () => {
    const { boss, clerk } = await pair()
    refunding(clerk, 40)
    const as = (id: string) => ({ ...at.runtime.ctx, actor: subject(id) })
    await chat(as('ada'), { agentId: boss, message: 'x' }, never)
    const [turn, ...others] = (await listTurns(as('ada'), clerk, {})).turns
    expect([turn?.via, others]).toEqual(['handoff', []])
    expect((await listTurns(as('bob'), clerk, {})).turns).toEqual([])
    const reading = getTurn(as('bob'), { agentId: clerk, turnId: turn?.id ?? '' }, {})
    expect(await refusal(reading)).toMatchObject({ code: 'TURN_NOT_FOUND' })
  })

  test('are not made again once they are recorded, by a repeat of the request, which keeps the version of that agent', async () => {
    const { boss, clerk } = await pair()
    refunding(clerk, 40, { status: 400 })
    await expect(talk(boss, 'again')).rejects.toMatchObject({ code: 'MODEL_ERROR' })
    expect([at.paid().length, asked('boss'), asked('clerk')]).toEqual([1, 1, 2])
    await updateAgent(at.runtime.ctx, { id: clerk, body: { instructions: 'New.' } })
    refunding(clerk, 41)
    expect(await talk(boss, 'again')).toMatchObject({ metadata: { toolCalls: 1 } })
    expect([at.paid(), asked('boss'), asked('clerk')]).toEqual([[{ amount: 40, orderId: 'A1' }], 1, 1])
    expect(JSON.stringify(at.model.calls)).not.toContain('New.')
  })

  test('are taken over by a retry of the run that answers, with their keys, and stay with the run that failed', async () => {
    const { boss, clerk } = await pair({ when: '${args.amount} > 100' })
    let status = 400
    at.model.answer((call) => {
      if (isBoss(call)) return rounds(call) > 0 ? answer : over(clerk)
      if (rounds(call) === 0) return { calls: [wish(40), at.wish(240)] }
      return status === 400 ? { status } : answer
    })
    const { turnId, runId, threadId } = await asks(boss)
    await at.give(runId, 'approve')
    expect((await at.runtime.wait(runId)).status).toBe('failed')
    const before = await listCalls(at.runtime.ctx, runId, {})
    expect([at.paid().length, before.calls.length]).toEqual([2, 4])
    // As if the process had died before it recorded the result of the second call.
    await at.database.sql`delete from agent_calls where turn_id = ${`${turnId}-2`} and seq = 3`
    status = 200
    const retried = await retryRun(at.runtime.ctx, { runId })
    const { pauseSignals } = await at.paused(retried.runId)
    expect(pauseSignals).toMatchObject([{ id: 'main:answer#1~2.3' }])
    await at.give(retried.runId, 'approve')
    expect((await at.runtime.wait(retried.runId)).status).toBe('completed')
    expect(keys()).toEqual([2, 3, 3].map((seq) => `${turnId}:2:${seq}`))
    expect([asked('boss'), asked('clerk')]).toEqual([2, 3])
    expect((await listCalls(at.runtime.ctx, runId, {})).calls).toHaveLength(3)
    expect((await listCalls(at.runtime.ctx, retried.runId, {})).calls).toHaveLength(7)
    // They began in the same moment.
    expect((await turnsOf(clerk)).toSorted((a, b) => a.state.localeCompare(b.state))).toMatchObject([
      { state: 'done', runId: retried.runId },
      { state: 'failed', runId },
    ])
    const turn = await getTurn(at.runtime.ctx, { agentId: boss, turnId }, {})
    expect(turn).toMatchObject({ state: 'done', threadId, answer: { threadId } })
  })

  test('that were under way have the same keys in a repeat of the request', async () => {
    const { boss, clerk } = await pair()
    refunding(clerk, 40)
    await talk(boss, 'under way')
    // As if the process had died before it recorded the result of the clerk's call.
    const [first] = await turnsOf(boss)
    await at.database.sql`delete from agent_calls where (turn_id = ${first?.id ?? ''} and seq > 1)
      or (turn_id = ${`${first?.id}-2`} and seq > 1)`
    await at.database.sql`update agent_turns set state = 'working', answer = null where id like ${`${first?.id}%`}`
    expect(await talk(boss, 'under way')).toMatchObject({ metadata: { toolCalls: 1 } })
    expect(keys()).toEqual(['under way:2:2', 'under way:2:2'])
  })
})

/** A process that dies at its nth record, before it is written or after. */
function dying(nth: number, written: boolean) {
  let records = 0
  let dead = false
  const died = (): never => {
    throw new Error('The process is dead.')
  }
  const db = new Proxy(at.runtime.ctx.db, {
    get(target, name) {
      if (name !== 'execute') return dead ? died : Reflect.get(target, name)
      return async (statement: SQL) => {
        if (dead) return died()
        const isRecord = new PgDialect().sqlToQuery(statement).sql.includes('insert into "agent_calls"')
        dead = isRecord && ++records === nth
        if (dead && !written) return died()
        const result = await target.execute(statement)
        return dead ? died() : result
      }
    },
  })
  return { db, records: () => records }
}

test('A1, A2, A3: a process that dies at any record of a turn leaves its calls, and those of agents below, to a repeat', async () => {
  const { boss, clerk } = await pair(undefined, { boss: { tools: [at.refund] } })
  let answers = 0
  at.model.answer((call) => {
    answers += 1
    const round = rounds(call)
    if (round === 2) return answer
    // Asked again, the model wants other amounts.
    const calls = [0, 1].map((index) => wish(answers + index / 10))
    if (!isBoss(call)) return { calls }
    return { calls: [...over(clerk, `Part ${answers}`).calls, ...calls] as never }
  })
  const whole = dying(0, true)
  await talk(boss, 'whole', whole.db)
  // Three answers and two rounds of two calls, and the same of the clerk in each of the two rounds.
  expect(whole.records()).toBe(3 + 4 + 2 * (3 + 4))
  const all = Array.from({ length: 2 * whole.records() }, (_, index) => index)
  for (const place of sampled(all, all.length / FEW)) {
    const [nth, written] = [1 + Math.floor(place / 2), place % 2 === 1]
    const key = `dies at ${nth} ${written}`
    at.outside.seen.length = 0
    await talk(boss, key, dying(nth, written).db).catch(() => {})
    const answered = await talk(boss, key)
    expect(answered, key).toMatchObject({ metadata: { rounds: 2, toolCalls: 6 } })
    const turn = (await turnsOf(boss)).find(({ state }) => state === 'done')
    const calls = await callsOf(boss, turn?.id)
    const recorded = calls.flatMap((call) => (call.kind === 'tool' && call.name === at.refund ? [call] : []))
    const wanted = recorded.map(({ turnId, seq, args }) => {
      const path = `${turnId}-${seq}`.slice((turn?.id ?? '').length).replaceAll('-', ':')
      return `${key}${path} ${(args as { amount: number }).amount}`
    })
    const made = at.outside.seen.map((seen) => `${seen.headers['idempotency-key']} ${JSON.parse(seen.body).amount}`)
    expect([...new Set(made)].sort(), key).toEqual(wanted.sort())
    expect(wanted, key).toHaveLength(12)
    // Up to four calls were under way.
    expect(made.length, key).toBeLessThanOrEqual(12 + 4)
  }
})

describe('an agent that was handed a message', () => {
  test('asks people about a call, which is made once, with what they approved; nothing before it is repeated', async () => {
    const { boss, clerk } = await pair({ when: '${args.amount} > 100', editable: ['amount'] })
    refunding(clerk)
    const { turnId, threadId, runId, pauseSignals } = await asks(boss)
    expect(pauseSignals).toMatchObject([{ id: 'main:answer#1~2.2', title: 'May Clerk call Refund?' }])
    expect(await turnsOf(clerk)).toMatchObject([{ state: 'waiting', runId }])
    expect((await readCallList(at.runtime.ctx, { agentId: boss, turnId })).waiting).toEqual(['Refund'])
    expect(at.paid()).toEqual([])
    const approvals = [{ approvalId: `${turnId}.2.2`, approved: true, args: { amount: 120 } }]
    const answered = await answerApprovals(at.runtime.ctx, { agentId: boss, threadId, body: { approvals } }, never)
    expect(answered).toMatchObject({ metadata: { toolCalls: 1 }, usage: { totalTokens: 60 } })
    expect(at.paid()).toEqual([{ amount: 120, orderId: 'A1' }])
    expect([asked('boss'), asked('clerk')]).toEqual([2, 2])
    expect(keys()).toEqual([`${turnId}:2:2`])
    expect((await listCalls(at.runtime.ctx, runId, { stepId: 'answer' })).calls).toHaveLength(6)
    expect(await turnsOf(clerk)).toMatchObject([{ state: 'done', runId }])
  })

  test('asks beside others and the first agent; each answer continues what it is about', async () => {
    const { boss, clerk } = await pair('always', { boss: { tools: [{ toolId: at.refund, approval: 'always' }] } })
    at.model.answer((call) => {
      if (rounds(call) > 0) return answer
      const { calls } = over(clerk)
      return isBoss(call) ? { calls: [...calls, at.wish(3), ...calls] as never } : { calls: [at.wish(1), at.wish(2)] }
    })
    const { turnId, runId, pauseSignals } = await asks(boss)
    const ids = ['2.2', '2.3', '3', '4.2', '4.3'].map((id) => `main:answer#1~${id}`)
    expect(pauseSignals.map(({ id }) => id)).toEqual(ids)
    for (const pauseId of [...ids].reverse()) {
      const made = at.paid().length
      await at.give(runId, pauseId.endsWith('~3') ? 'reject' : 'approve', { pauseId })
      if (!pauseId.endsWith('~3')) await until(() => at.paid().length > made)
    }
    expect((await at.runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
    expect(at.paid().map(({ amount }) => amount)).toEqual([2, 1, 2, 1])
    expect(keys()).toEqual(['4:3', '4:2', '2:3', '2:2'].map((call) => `${turnId}:${call}`))
    expect([asked('boss'), asked('clerk')]).toEqual([2, 4])
  })

  test('counts in the usage, the calls and the limits of the message after its answer is recorded, too', async () => {
    const { boss, clerk } = await pair(undefined, { boss: { tools: [{ toolId: at.refund, approval: 'always' }] } })
    const start = async (limits: object) => {
      await updateAgent(at.runtime.ctx, { id: boss, body: { limits } })
      // The clerk answers, then the boss asks, and then once more.
      at.model.answer((call) => {
        if (!isBoss(call)) return rounds(call) > 0 ? answer : { calls: [wish(1)] }
        return [over(clerk), { calls: [at.wish(2)] }, { calls: [at.wish(3)] }, answer][rounds(call)] ?? answer
      })
      const waiting = await asks(boss)
      await at.give(waiting.runId, 'approve')
      return waiting
    }
    const { runId, turnId } = await start({})
    await at.runtime.wait(runId, ({ pauseSignals: [next] }) => next?.id === 'main:answer#1~6', 10_000)
    await at.give(runId, 'approve')
    const run = await at.runtime.wait(runId, undefined, 10_000)
    expect(run.stepExecutionHistory[0]).toMatchObject({ usage: { usage: { totalTokens: 90 }, toolCalls: 3 } })
    const { answer: given } = await getTurn(at.runtime.ctx, { agentId: boss, turnId }, {})
    expect(given).toMatchObject({ usage: { totalTokens: 90 } })
    const limited = await start({ turn: { tokens: 60 } })
    const failed = await at.runtime.wait(limited.runId, undefined, 10_000)
    expect(failed.error).toMatchObject({ code: 'BUDGET_EXCEEDED' })
    expect(asked('boss')).toBe(2)
  })

  test('continues in a retry what people approved, with the message that they changed, and asks nobody again', async () => {
    const approval = { editable: ['message'] }
    const { boss, clerk } = await pair()
    await updateAgent(at.runtime.ctx, { id: boss, body: { handoffs: [{ agentId: clerk, approval }] } })
    let status = 400
    at.model.answer((call) => {
      if (isBoss(call)) return rounds(call) > 0 ? answer : over(clerk, 'Refund 40.')
      if (rounds(call) === 0) return { calls: [wish(41)] }
      return status === 400 ? { status } : answer
    })
    const { runId } = await asks(boss)
    await at.give(runId, 'approve', { data: { message: 'Refund 41.' } })
    expect((await at.runtime.wait(runId, undefined, 10_000)).status).toBe('failed')
    status = 200
    const retried = await retryRun(at.runtime.ctx, { runId })
    expect((await at.runtime.wait(retried.runId, undefined, 10_000)).status).toBe('completed')
    expect(at.paid()).toHaveLength(1)
    const clerks = at.model.calls.filter((call) => !isBoss(call)).map(({ body }) => JSON.stringify(body.messages))
    for (const messages of clerks) expect(messages).toContain('Refund 41.')
    expect(at.toolMessages()).toEqual([expect.stringContaining('A person changed the arguments')])
    const { calls } = await listCalls(at.runtime.ctx, retried.runId, {})
    expect(calls.find(({ seq, kind, handedOverBy }) => !handedOverBy && kind === 'tool' && seq === 2)).toMatchObject({
      decision: { approved: true, args: { message: 'Refund 41.' } },
    })
  })

  test('keeps the turn with its process: each of its records prolongs the hold', async () => {
    const { boss, clerk } = await pair()
    const leases: number[] = []
    at.model.answer(async (call) => {
      if (isBoss(call)) return rounds(call) > 0 ? answer : over(clerk)
      if (rounds(call) > 0) return answer
      await at.database.sql`update agent_turns set leased_until = now() where owner is not null`
      return { calls: [wish(1)] }
    })
    at.answering = async () => {
      const [row] = await at.database.sql`
        select extract(epoch from leased_until - now())::float8 as left from agent_turns where owner is not null`
      leases.push(row?.left)
    }
    await talk(boss)
    at.answering = async () => {}
    expect(leases).toHaveLength(1)
    expect(leases[0]).toBeGreaterThan(5)
  })

  test('asks at a limit of its own, and continues once people let it', async () => {
    const limits = { turn: { tokens: 20 }, at: { ask: ['role:admin'] } }
    const { boss, clerk } = await pair(undefined, { clerk: { limits } })
    refunding(clerk, 40)
    const { runId, pauseSignals } = await asks(boss)
    expect(pauseSignals).toMatchObject([{ id: 'main:answer#1~2.3', limit: { name: 'turn.tokens' } }])
    await at.give(runId, 'approve')
    expect((await at.runtime.wait(runId, undefined, 10_000)).status).toBe('completed')
    expect([at.paid().length, asked('boss'), asked('clerk')]).toEqual([1, 2, 2])
  })

  test('that does not answer as its schema says is asked no more, and the first agent learns why', async () => {
    const { boss, clerk } = await pair()
    let late = true
    at.model.answer((call) => {
      if (!isBoss(call)) return { text: 'No data.' }
      if (rounds(call) === 0) return over(clerk)
      return late ? { status: 400 } : answer
    })
    await expect(talk(boss, 'mismatch')).rejects.toMatchObject({ code: 'MODEL_ERROR' })
    late = false
    await talk(boss, 'mismatch')
    expect(asked('clerk')).toBe(2)
    expect(at.toolMessages()).toEqual(['OUTPUT_SCHEMA_MISMATCH: The answer does not match the output schema'])
    expect(await turnsOf(clerk)).toMatchObject([{ state: 'failed', errorCode: 'OUTPUT_SCHEMA_MISMATCH' }])
  })
})
