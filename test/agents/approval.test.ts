import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { answerOnce } from '@/server/agents/answer-once'
import { policiesOf } from '@/server/agents/approval'
import { askingWhy } from '@/server/agents/approval-reason'
import { getAgent, updateAgent } from '@/server/agents/lifecycle'
import type { AgentTool } from '@/server/agents/toolset'
import type { Approval } from '@/server/definition/approval'
import type { JsonObject } from '@/server/definition/json'
import { resumeRun } from '@/server/runs/resume'
import { createTool } from '@/server/tools/lifecycle'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, type Reply, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { invokeAgent } from '../support/talk'
import { refusal } from '../workflows/support'
import { newAgent } from './support'

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let outside: Outside
let toolId: string
const never = new AbortController().signal

beforeAll(async () => {
  database = await freshDatabase()
  outside = await startOutside((_seen, response) => {
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
  const inputSchema = {
    type: 'object',
    properties: { amount: { type: 'number', title: 'Amount' }, order: { type: 'string' } },
    required: ['amount'],
    additionalProperties: false,
  }
  const config = { method: 'POST', url: `${outside.url}/pay`, body: '${args}' }
  toolId = (await createTool(runtime.ctx, { name: 'Refund', kind: 'http', config, inputSchema })).id
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

const asks = (approval: unknown, fields: object = {}) =>
  newAgent(runtime.ctx, { tools: [{ toolId, approval }], ...fields }, model)
const answer: Reply = { text: '{"item":"chairs","amount":12}' }
const refund = (args: object): Reply => ({ calls: [{ name: toolId, args: { approval_reason: 'It broke.', ...args } }] })
const paid = () => outside.seen.map(({ body }) => JSON.parse(body))
const toolMessages = () =>
  (model.calls.at(-1)?.body.messages ?? [])
    .filter(({ role }: { role: string }) => role === 'tool')
    .map(({ content }: { content: string }) => content)
const policies = (runId: string) =>
  database.sql`select c.kind, c.policy from agent_calls c join agent_turns t on t.id = c.turn_id
    where t.run_id = ${runId} order by c.seq`
const asking = (agentId: string, step: object = {}) => ({
  steps: [
    { id: 'ask', type: 'call-agent', agentId, message: 'x', ...step },
    { id: 'end', type: 'end-flow' },
  ],
  edges: [{ from: 'ask', to: 'end' }],
})

describe('the policy of a call', () => {
  const tool = (approval: Approval | undefined): AgentTool => ({
    ...{ kind: 'tool', id: 'tool_a', toolId: 'tool_a', version: 1, title: 'Refund', computes: false, approval },
    ...{ name: 'refund', description: '', parameters: {}, names: new Map() },
    inputSchema: { type: 'object', properties: { amount: { type: 'number', title: 'Amount' } } },
  })
  const policy = (approval: Approval | undefined, input: unknown = { amount: 240, order: 'o1' }, text = '') => {
    const known = {
      agent: 'Support',
      dataContext: { vip: true },
      context: { plan: 'gold', boss: 'user:ada@x.example' },
      hides: new Set(['iban']),
    }
    const calls = [{ toolCallId: 'c', toolName: 'tool_a', input }]
    return policiesOf({ calls, text }, new Map([['tool_a', tool(approval)]]), known)[0]
  }
  const asked = (approval: Approval, input?: JsonObject, text?: string) => {
    const found = policy(approval, input, text)
    return typeof found === 'object' ? found.ask : found
  }

  test.each([
    [undefined, 'run'],
    ['always', 'ask'],
    [{}, 'ask'],
    [{ when: '${args.amount} > 100' }, 'ask'],
    [{ when: '${args.amount} > 500' }, 'run'],
    [{ when: '${dataContext.vip} && ${context.plan} == "gold"' }, 'ask'],
    [{ when: '!${dataContext.vip} || ${context.plan} != "gold"' }, 'run'],
    [{ when: '${args.missing} > 100' }, 'ask'],
    [{ when: '${args.order} > 100' }, 'ask'],
    [{ when: '${args.order}' }, 'ask'],
  ] as [Approval | undefined, string][])('under %j is to %s', (approval, expected) => {
    const found = policy(approval)
    expect(typeof found === 'object' ? Object.keys(found)[0] : found).toBe(expected)
  })

  test('is to refuse a call that cannot be made, so that nobody is asked', () => {
    expect(policy('always', null)).toBe('refuse')
    expect(policy('always', { amount: 'much' })).toBe('refuse')
    expect(
      policiesOf({ calls: [{ toolCallId: 'c', toolName: 'gone', input: {} }], text: '' }, new Map(), {} as never),
    ).toEqual(['refuse'])
  })

  test('asks in the words of the author, and shows the arguments with the reason of the model', () => {
    const args = { amount: 240, order: 'o1', approval_reason: ' It **broke**. ' }
    expect(asked('always', args)).toEqual({
      title: 'May Support call Refund?',
      show: [
        { label: 'Amount', value: 240 },
        { label: 'order', value: 'o1' },
      ],
      onExpiry: 'reject',
      editable: [],
      why: 'It **broke**.',
    })
    const rule = {
      ...{ title: 'Refund ${args.amount}', assignees: ['role:admin', '${context.boss}'], noSelfApproval: true },
      ...{ needs: { approve: 2 }, dueIn: 'PT4H', expiresIn: 'P2D', onExpiry: 'fail' as const, show: ['order', 'gone'] },
    }
    expect(asked(rule, { amount: 240, order: 'o1' }, 'I refund it.')).toEqual({
      ...{ title: 'Refund 240', show: [{ label: 'order', value: 'o1' }] },
      ...{ assignees: ['role:admin', 'user:ada@x.example'], noSelfApproval: true, needs: { approve: 2 } },
      ...{ dueIn: 'PT4H', expiresIn: 'P2D', onExpiry: 'fail', editable: [], why: 'I refund it.' },
    })
  })

  test('a part that cannot be evaluated is named, and never lets a call pass or asks fewer people', () => {
    const rule = { when: '${args.no}', title: '${args.no}', assignees: ['${args.no}'], dueIn: '${args.order}' }
    const question = asked(rule)
    expect(question).toMatchObject({ title: 'May Support call Refund?', assignees: ['role:admin'] })
    expect(question).not.toHaveProperty('dueIn')
    expect(typeof question === 'object' && question.problem).toMatchInlineSnapshot(
      `"The condition could not be evaluated: \${args.no} has no value. Who may answer could not be evaluated: \${args.no} has no value. The title could not be evaluated: \${args.no} has no value. When it is due is not a duration."`,
    )
    expect(asked({ assignees: '${args.order}' })).toMatchObject({ assignees: ['role:admin'] })
    const two = { needs: { approve: 2 }, assignees: ['${context.boss}'] }
    expect(asked(two)).toMatchObject({ assignees: ['role:admin'], needs: { approve: 2 } })
  })

  test('leaves an argument of the tool alone that has the name of the reason', () => {
    const own = { ...tool('always'), inputSchema: { type: 'object', required: ['approval_reason'] } } as AgentTool
    const named = {
      ...own,
      inputSchema: { ...(own.kind === 'tool' && own.inputSchema), properties: { approval_reason: {} } },
    } as AgentTool
    const calls = [{ toolCallId: 'c', toolName: 'tool_a', input: { approval_reason: 'Why' } }]
    const known = { agent: 'Support', dataContext: {}, context: null, hides: new Set<string>() }
    expect(policiesOf({ calls, text: '' }, new Map([['tool_a', named]]), known)).toMatchObject([
      { ask: { show: [{ label: 'approval_reason', value: 'Why' }], why: 'Why' } },
    ])
    expect(policiesOf({ calls, text: '' }, new Map([['tool_a', own]]), known)).toEqual(['refuse'])
    expect(askingWhy({ properties: { approval_reason: {} } }, 'always')).toEqual({
      properties: { approval_reason: {} },
    })
  })

  test('does not show what the run hides', () => {
    expect(asked('always', { iban: 'DE02', to: { iban: 'DE02', name: 'Ada' } })).toMatchObject({
      show: [
        { label: 'iban', value: '***' },
        { label: 'to', value: { iban: '***', name: 'Ada' } },
      ],
    })
  })

  test('shows what fits on a card', () => {
    const large = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`a${index}`, 'x'.repeat(20_000)]))
    const question = asked('always', large)
    expect(JSON.stringify(question).length).toBeLessThan(100_000)
    expect(typeof question === 'object' && question.show.map(({ label }) => label).slice(-2)).toEqual([
      'a29',
      'More arguments',
    ])
  })
})

/** A workflow whose agent is asked on its failure path. */
const failing = (agentId: string) => ({
  steps: [
    { id: 'fails', type: 'fail-flow', code: 'NO', message: 'No.' },
    { id: 'ask', type: 'call-agent', agentId, message: 'x' },
  ],
  initialStep: 'fails',
  onFailure: 'ask',
})

describe('a call that needs a decision', () => {
  test.each([
    ['compare', (agentId: string) => answerOnce(runtime.ctx, { agentId, body: { message: 'x' } }, never)],
    ['a failure path', async (agentId: string) => runtime.wait(await runtime.start(failing(agentId)))],
  ])('is not made by %s, where nobody can be asked, and the model is told so', async (_where, talk) => {
    const { id } = await asks({ when: '${args.amount} > 100' })
    model.script(refund({ amount: 240 }), answer)
    await talk(id)
    expect(model.calls).toHaveLength(2)
    expect(toolMessages()).toEqual(['APPROVAL_NOT_POSSIBLE: The call needs a decision, and nobody can be asked here.'])
    expect(paid()).toEqual([])
    model.script(refund({ amount: 50 }), answer)
    await talk(id)
    expect(paid()).toEqual([{ amount: 50 }])
  })

  test('of an agent that a message is handed to is not made either, nor the hand-over itself if that asks', async () => {
    const { id: second } = await asks('always')
    const boss = (approval?: string) =>
      newAgent(runtime.ctx, { supervisor: true, outputSchema: null, handoffs: [{ agentId: second, approval }] }, model)
    const over: Reply = {
      calls: [{ name: `handoff_${second}`, args: { message: 'Refund it.', approval_reason: 'x' } }],
    }
    const talk = async (id: string) => answerOnce(runtime.ctx, { agentId: id, body: { message: 'x' } }, never)
    model.script(over, refund({ amount: 1 }), answer, { text: 'Done.' })
    await talk((await boss()).id)
    expect(model.calls).toHaveLength(4)
    model.script(over, { text: 'Done.' })
    await talk((await boss('always')).id)
    expect(toolMessages()).toEqual([expect.stringContaining('APPROVAL_NOT_POSSIBLE')])
    expect(paid()).toEqual([])
  })

  test('is decided once: the next attempt keeps to what is recorded, although the policy has changed', async () => {
    const { id } = await asks({ when: '${args.amount} > 100', title: 'Refund ${args.amount}' })
    model.answer((_call, index) => {
      if (index === 0)
        return { calls: [240, 50].map((amount) => ({ name: toolId, args: { amount, approval_reason: 'Why' } })) }
      if (index > 1) return answer
      return { hang: true }
    })
    const runId = await runtime.start(
      asking(id, { timeoutMs: 2_000, retry: { maxAttempts: 2, retryOn: ['TIMED_OUT'] } }),
    )
    await runtime.wait(runId, ({ status }) => status === 'paused', 10_000)
    await database.sql`update agent_versions set config = jsonb_set(config::jsonb, '{tools,0,approval,when}', '"false"')::json where agent_id = ${id}`
    await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'reject' } })
    const run = await runtime.wait(runId)
    expect(run.status).toBe('completed')
    expect(paid()).toEqual([{ amount: 50 }])
    const ask = expect.objectContaining({ title: 'Refund 240', why: 'Why' })
    expect((await policies(runId))[0]).toEqual({ kind: 'model', policy: [{ ask }, 'run'] })
  })

  test('costs nothing where no tool asks: neither the model nor the record sees anything of it', async () => {
    const { id } = await newAgent(runtime.ctx, { tools: [toolId] }, model)
    model.script({ calls: [{ name: toolId, args: { amount: 240 } }] }, answer)
    const run = await runtime.wait(await runtime.start(asking(id)))
    expect(JSON.stringify(model.calls[0]?.body.tools)).not.toContain('approval')
    expect((await policies(run.runId)).map(({ policy }) => policy)).toEqual([null, null, null])
    expect(paid()).toEqual([{ amount: 240 }])
  })

  test('must come with a reason, by the schema that the model sees', async () => {
    const { id } = await asks('always')
    model.script(answer)
    await invokeAgent(runtime.ctx, { agentId: id, body: { message: 'x' } }, never)
    const [{ parameters }] = (model.calls[0]?.body.tools ?? []).map((one: { function: object }) => one.function)
    expect(parameters.required).toEqual(['amount', 'approval_reason'])
    expect(Object.keys(parameters.properties)).toEqual(['amount', 'order', 'approval_reason'])
  })
})

describe('the policy of a tool', () => {
  test('is kept and shown as it was set; an agent without one shows nothing of it', async () => {
    const rule = { when: '${args.amount} > 1', editable: ['amount'], assignees: ['role:admin'] }
    const { id, tools } = await asks(rule)
    expect(tools).toEqual([{ toolId, version: 'latest', approval: rule }])
    expect((await updateAgent(runtime.ctx, { id, body: { name: 'Other' } })).tools).toEqual(tools)
    const plain = await newAgent(runtime.ctx, { tools: [toolId, { toolId, version: 2 }] })
    const shown = '[{"toolId":"ID","version":"latest"},{"toolId":"ID","version":2}]'.replaceAll('ID', toolId)
    expect(JSON.stringify((await getAgent(runtime.ctx, { id: plain.id })).tools)).toBe(shown)
  })

  test.each([
    [{ when: '${args.amount} >' }, 'when'],
    [{ when: '${run.id} == 1' }, 'when'],
    [{ title: '${args.amount' }, 'title'],
    [{ title: '${amount}' }, 'title'],
    [{ assignees: ['ada'] }, ''],
    [{ assignees: ['role:admin', 'role:admin'] }, 'assignees'],
    [{ needs: { approve: 2 }, editable: ['amount'] }, 'editable'],
    [{ needs: { agree: 2 } }, 'needs'],
    [{ needs: { approve: 2 }, assignees: ['user:ada@x.example'] }, 'needs'],
    [{ expiresIn: 'soon' }, ''],
    [{ always: true }, ''],
    ['sometimes', ''],
  ])('%j is refused', async (approval, field) => {
    const found = await refusal(asks(approval))
    expect(found).toMatchObject({ code: 'INVALID_INPUT' })
    if (field !== '') expect(found.details[0]?.path).toBe(`tools[0].approval.${field}`)
  })
})
