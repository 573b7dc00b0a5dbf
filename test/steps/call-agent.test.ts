import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { messages } from '@/db/schema/threads'
import { archiveAgent, createAgent, updateAgent } from '@/server/agents/lifecycle'
import type { JsonObject } from '@/server/definition/json'
import { StepFailure, TransientError } from '@/server/errors'
import { cancelRun } from '@/server/runs/cancel'
import type { PresentedRun } from '@/server/runs/present'
import { callAgent } from '@/server/steps/call-agent'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { newAgent } from '../agents/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newScriptTool } from '../support/tenant'
import { refusal } from '../workflows/support'

if (callAgent.mode !== 'effect') throw new Error('call-agent must do work')
const { run, config, defines } = callAgent

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let agentId: string
beforeAll(async () => {
  database = await freshDatabase()
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1', AGENT_TIMEOUT_MS: '20000' })
})
beforeEach(async () => {
  agentId = (await newAgent(runtime.ctx, {}, model)).id
})
afterAll(async () => {
  await runtime.stop()
  await model.close()
  await database.close()
})

function call(raw: JsonObject) {
  const parsed = config.parse({ agentId, message: 'x', ...raw })
  return run({ config: parsed, ctx: runtime.ctx, data: {}, signal: new AbortController().signal, idempotencyKey: 'k' })
}
const answer = { text: '{"item":"chairs","amount":12}' }

describe('call-agent', () => {
  test('returns the answer’s fields, and its usage', async () => {
    model.script(answer)
    expect(await call({ dataContext: { vip: true } })).toEqual({
      output: { item: 'chairs', amount: 12 },
      usage: expect.objectContaining({
        provider: 'openai-compatible',
        threadId: expect.stringMatching(/^thr_/),
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
      }),
    })
    expect(model.calls[0]?.body.messages.at(-1).content[1].text).toContain('{"vip":true}')
  })

  test('returns the cost of the answer if the model has prices', async () => {
    const prices = { input: 2, output: 4 }
    const priced = { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url, prices }
    const { id } = await newAgent(runtime.ctx, { model: priced })
    model.script(answer)
    expect((await call({ agentId: id })).usage?.cost).toBe(0.00004)
  })

  test('continues only threads of the same agent', async () => {
    model.script(answer, answer)
    const { usage } = await call({})
    const threadId = String(usage?.threadId)
    expect((await call({ threadId })).usage?.threadId).toBe(threadId)
    await expect(call({ threadId: 'thr_other' })).rejects.toThrow('Thread not found')
    expect(await database.db.select().from(messages).where(eq(messages.threadId, threadId))).toHaveLength(4)
  })

  test('fails temporarily when the provider does, and permanently when it refuses', async () => {
    model.script({ status: 429, headers: { 'retry-after': '30' } })
    const busy = await call({}).catch((err: unknown) => err)
    expect(busy).toBeInstanceOf(TransientError)
    expect(busy).toMatchObject({ retryAfterMs: 30_000, message: 'openai-compatible answered with status 429' })
    model.script({ status: 401 })
    const refused = await call({}).catch((err: unknown) => err)
    expect(refused).toBeInstanceOf(StepFailure)
    expect(refused).toMatchObject({ code: 'MODEL_ERROR' })
  })

  test('fails permanently with the code of the error', async () => {
    const supervisor = await newAgent(runtime.ctx, { supervisor: true })
    const talker = await newAgent(runtime.ctx, { outputSchema: null })
    await expect(call({ message: ' ' })).rejects.toMatchObject({ code: 'MESSAGE_REQUIRED' })
    await expect(call({ agentId: supervisor.id })).rejects.toMatchObject({ code: 'AGENT_SUPERVISOR' })
    await expect(call({ agentId: talker.id })).rejects.toMatchObject({ code: 'AGENT_NO_STRUCTURED_OUTPUT' })
    await expect(call({ version: 2 })).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
    const { id } = await createAgent(await runtime.as('owner', 'ten_other'), { name: 'Strange' })
    await expect(call({ agentId: id })).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
  })

  test('with saveAs defines only that name; without it, its answer may define any', () => {
    const parsed = config.parse({ agentId: 'a', message: 'x' })
    expect(defines?.({ ...parsed, saveAs: 'order' }, 'ask')).toEqual({
      fields: { order: { type: 'any' } },
      open: false,
    })
    expect(defines?.(parsed, 'ask')).toEqual({ fields: { ask: { type: 'any' } }, open: true })
  })
})

describe('in a run', () => {
  const definition = (step: object) => ({
    payload: { text: { type: 'string' } },
    steps: [
      { id: 'ask', type: 'call-agent', agentId, ...step },
      { id: 'end', type: 'end-flow', output: { item: '${item}', all: '${_}' } },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })

  test('its message and data context are templates, and the answer becomes run data', async () => {
    model.script(answer)
    const runId = await runtime.start(definition({ message: 'Order: ${text}', dataContext: '${_}' }), {
      text: '12 chairs',
    })
    const ended = await runtime.wait(runId)
    expect(ended.result).toEqual({ item: 'chairs', all: { text: '12 chairs', item: 'chairs', amount: 12 } })
    const [step] = ended.stepExecutionHistory
    expect(step).toMatchObject({
      inputData: { agentId, message: 'Order: 12 chairs', dataContext: { text: '12 chairs' } },
      outputData: { item: 'chairs', amount: 12 },
      usage: { usage: { totalTokens: 15 } },
    })
    const { content } = model.calls[0]?.body.messages.at(-1) ?? {}
    expect(content.map(({ text }: { text: string }) => text)).toEqual([
      'Order: 12 chairs',
      '<data_context>\n{"text":"12 chairs"}\n</data_context>',
    ])
  })

  test('an answer that never matches the schema fails it with its code', async () => {
    model.script({ text: 'no' }, { text: 'no' })
    const ended = await runtime.wait(await runtime.start(definition({ message: '${text}' }), { text: 'x' }))
    expect([ended.status, ended.error]).toEqual(['failed', expect.objectContaining({ code: 'OUTPUT_SCHEMA_MISMATCH' })])
  })

  test('a failed turn is in the record: its usage, its calls, and the reason', async () => {
    const tool = await newScriptTool(runtime.ctx, 'return 1')
    const prices = { input: 2, output: 4 }
    const priced = { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url, prices }
    const { id } = await newAgent(runtime.ctx, { tools: [tool], model: priced })
    const failedStep = async (retry: object = {}) => {
      const ended = await runtime.wait(
        await runtime.start(definition({ agentId: id, message: 'x', ...retry }), { text: 'x' }),
      )
      return ended.stepExecutionHistory[0]
    }
    const cut = { message: { content: '{"item":' }, finish: 'length' }
    model.script({ calls: [{ name: tool, args: {} }] }, cut)
    const spent = {
      usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 },
      cost: 0.00008,
      rounds: 1,
      toolCalls: 1,
    }
    expect(await failedStep()).toMatchObject({
      status: 'failed',
      errorCode: 'MODEL_ERROR',
      usage: { ...spent, finishReason: 'length', retryable: false, calls: [{ toolId: tool, success: true }] },
    })
    model.script({ calls: [{ name: tool, args: {} }] }, { text: 'no' }, { text: 'no' })
    expect(await failedStep()).toMatchObject({
      errorCode: 'OUTPUT_SCHEMA_MISMATCH',
      usage: { usage: { totalTokens: 45 }, toolCalls: 1, calls: [{ toolId: tool, success: true }] },
    })
    model.script({ calls: [{ name: tool, args: {} }] }, { status: 429, headers: { 'retry-after': '60' } })
    const refused = await failedStep({ retry: { maxAttempts: 1 } })
    expect(refused?.usage).toMatchObject({ usage: { totalTokens: 15 }, status: 429, retryable: true })
    // Its thread was created for it, and is gone.
    expect(refused?.usage).not.toHaveProperty('threadId')
  })

  test('an attempt’s usage is stored with it when another follows', async () => {
    const tool = await newScriptTool(runtime.ctx, 'return 1')
    const { id } = await newAgent(runtime.ctx, { tools: [tool] }, model)
    const calls = { calls: [{ name: tool, args: {} }] }
    model.script(calls, { message: { content: null, refusal: 'No.' } })
    const refused = await runtime.wait(await runtime.start(definition({ agentId: id, message: 'x' }), { text: 'x' }))
    expect(refused.stepExecutionHistory[0]?.usage).toMatchObject({ refusal: 'No.', retryable: false })
    const unavailable = { status: 503, headers: { 'retry-after': '30' } }
    model.script(calls, unavailable, answer)
    const retry = { maxAttempts: 2 }
    const runId = await runtime.start(definition({ agentId: id, message: 'x', retry }), { text: 'x' })
    const tried = ({ stepExecutionHistory: [step] }: PresentedRun) => step?.attempts !== undefined
    expect((await runtime.wait(runId, tried)).stepExecutionHistory[0]?.attempts).toMatchObject([
      {
        attempt: 1,
        error: 'openai-compatible answered with status 503',
        usage: { usage: { totalTokens: 15 }, status: 503 },
      },
    ])
    await cancelRun(runtime.ctx, { runId })
  })

  test('the usage of all attempts is added up in the record, whether the last one is answered or fails', async () => {
    const tool = await newScriptTool(runtime.ctx, 'return 1')
    const prices = { input: 2, output: 4 }
    const priced = { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url, prices }
    const { id } = await newAgent(runtime.ctx, { tools: [tool], model: priced })
    const calls = { calls: [{ name: tool, args: {} }] }
    const retry = { maxAttempts: 2, initialDelayMs: 10 }
    const stepOf = async () => {
      const runId = await runtime.start(definition({ agentId: id, message: 'x', timeoutMs: 2_000, retry }), {
        text: 'x',
      })
      return (await runtime.wait(runId)).stepExecutionHistory[0]
    }
    const [one, two] = [
      { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 }, cost: 0.00004 },
      { usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 }, cost: 0.00008 },
    ]
    model.script(calls, { hang: true }, answer)
    const answered = await stepOf()
    expect(answered).toMatchObject({ status: 'completed', usage: { ...two, threadId: expect.any(String) } })
    expect(answered?.attempts).toMatchObject([{ attempt: 1, usage: one }, { attempt: 2 }])
    model.script(calls, { hang: true }, calls, { hang: true })
    expect(await stepOf()).toMatchObject({ status: 'failed', usage: { ...two, rounds: 2, toolCalls: 2 } })
    // The last attempt failed before it used anything.
    model.script(calls, { hang: true }, { status: 400 })
    expect(await stepOf()).toMatchObject({ status: 'failed', usage: one })
  })

  test('the usage of a turn until the time of its step was up is in the record', async () => {
    const tool = await newScriptTool(runtime.ctx, 'return 1')
    const { id } = await newAgent(runtime.ctx, { tools: [tool] }, model)
    model.script({ calls: [{ name: tool, args: {} }] }, { hang: true })
    const step = { agentId: id, message: 'x', timeoutMs: 3_000, retry: { maxAttempts: 1 } }
    const ended = await runtime.wait(await runtime.start(definition(step), { text: 'x' }))
    expect(ended.stepExecutionHistory[0]).toMatchObject({
      status: 'failed',
      error: 'The step did not finish within 3000 ms.',
      usage: { usage: { totalTokens: 15 }, toolCalls: 1, retryable: true, calls: [{ toolId: tool, success: true }] },
    })
  })

  test('an agent that does not exist is detected before the run is created', async () => {
    await archiveAgent(runtime.ctx, { id: agentId })
    const started = runtime.start(definition({ message: '${text}' }), { text: 'x' })
    await expect(started).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      details: [{ code: 'AGENT_NOT_FOUND', stepId: 'ask', field: 'agentId', message: `Agent not found: ${agentId}.` }],
    })
  })

  test('an agent that never answers with data is detected before, wherever it is certain which version is used', async () => {
    const talker = await newAgent(runtime.ctx, { name: 'Talker', outputSchema: null })
    const supervisor = await newAgent(runtime.ctx, { name: 'Boss', supervisor: true })
    const problems = async (step: JsonObject) => {
      const { id } = await createWorkflow(runtime.ctx, { name: 'W', ...definition({ message: 'x', ...step }) })
      const { details } = await refusal(publishWorkflow(runtime.ctx, { id }))
      return details.map(({ code, stepId, field }) => [code, stepId, field])
    }
    const textOnly = [['AGENT_NO_STRUCTURED_OUTPUT', 'ask', 'agentId']]
    expect(await problems({ agentId: talker.id })).toEqual(textOnly)
    expect(await problems({ agentId: supervisor.id })).toEqual([['AGENT_SUPERVISOR', 'ask', 'agentId']])
    await updateAgent(runtime.ctx, { id: talker.id, body: { outputSchema: { type: 'object' } } })
    expect(await problems({ agentId: talker.id, version: 1 })).toEqual(textOnly)
    const publish = async (step: JsonObject) => {
      const { id } = await createWorkflow(runtime.ctx, { name: 'W', ...definition({ message: 'x', ...step }) })
      return publishWorkflow(runtime.ctx, { id })
    }
    expect(await publish({ agentId: talker.id })).toMatchObject({ publishedVersion: 1 })
    // The agent may have a schema again by the time of a run.
    await updateAgent(runtime.ctx, { id: talker.id, body: { outputSchema: null } })
    expect(await publish({ agentId: talker.id, version: 'latest' })).toMatchObject({ publishedVersion: 1 })
    expect(await publish({ agentId: '${text}' })).toMatchObject({ publishedVersion: 1 })
  })

  test('a workflow that would use a newer version of an agent without a schema is not published again', async () => {
    const { id } = await createWorkflow(runtime.ctx, { name: 'W', ...definition({ message: 'x' }) })
    await publishWorkflow(runtime.ctx, { id })
    await updateAgent(runtime.ctx, { id: agentId, body: { outputSchema: null } })
    await updateWorkflow(runtime.ctx, { id, body: { name: 'W2' } })
    const { code, details } = await refusal(publishWorkflow(runtime.ctx, { id }))
    expect([code, details[0]?.code]).toEqual(['VALIDATION_FAILED', 'AGENT_NO_STRUCTURED_OUTPUT'])
  })
})
