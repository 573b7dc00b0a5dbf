import type { JsonObject } from '../definition/json'
import { itemExample, stateExample, versionExample } from '../versioned/examples'

export const AGENT_ID = 'agt_01KAHVD2S40000K6T8W3Y1M5QN'
/** Of a file that was uploaded for a message. */
export const FILE_ID = '0b9c3c5e-58a3-4f0e-9a8e-6d2f5f1d7c11'

const outputSchema = {
  type: 'object',
  properties: { item: { type: 'string' }, amount: { type: 'number' } },
  required: ['item', 'amount'],
} satisfies JsonObject

export const createAgent = {
  name: 'Orders',
  instructions: 'Extract the order.',
  model: { provider: 'openai', modelId: 'gpt-5-mini', apiKey: '${secrets.OPENAI_API_KEY}', settings: {} },
  tools: ['tool_add'],
  outputSchema,
} satisfies JsonObject

const { name, instructions, model } = createAgent
const configured = {
  instructions,
  model,
  tools: [{ toolId: 'tool_add', version: 'latest' }],
  outputSchema,
  supervisor: false,
  handoffs: [],
} satisfies JsonObject

export const agentItem = itemExample(AGENT_ID, { name, description: '' })
export const agent = { ...agentItem, ...configured, ...stateExample } satisfies JsonObject
export const agentVersionItem = versionExample(AGENT_ID, { name })
export const agentVersion = { ...agentVersionItem, description: '', ...configured } satisfies JsonObject
export const agentSchema = { agentId: AGENT_ID, name, outputSchema } satisfies JsonObject

export const agentAnswer = {
  data: { item: 'Chair', amount: 25 },
  threadId: 'thr_01KAHVE6V80000B2J4N7R9X0GC',
  metadata: {
    provider: 'openai',
    modelId: 'gpt-5-mini',
    version: 2,
    usage: { inputTokens: 212, outputTokens: 18, totalTokens: 230 },
    rounds: 0,
    toolCalls: 0,
  },
} satisfies JsonObject

export const chatAnswer = {
  message: 'Two chairs, 25 in all: shall I order them?',
  threadId: agentAnswer.threadId,
  usage: agentAnswer.metadata.usage,
  metadata: agentAnswer.metadata,
} satisfies JsonObject

export const chatEvents = [
  'retry: 2000',
  '',
  `id: ${agentAnswer.threadId}.1.1`,
  'event: message.delta',
  'data: {"text":"Two chairs","agentId":"agt_01KAHVD2S40000K6T8W3Y1M5QN"}',
  '',
  `id: ${agentAnswer.threadId}.1.2`,
  'event: message.done',
  `data: ${JSON.stringify(chatAnswer)}`,
  '',
].join('\n')

export const answerEvents = [
  'retry: 2000',
  '',
  `id: ${agentAnswer.threadId}.1.1`,
  'event: answer.partial',
  'data: {"data":{"item":"Chair"}}',
  '',
  `id: ${agentAnswer.threadId}.1.2`,
  'event: answer.done',
  `data: ${JSON.stringify(agentAnswer)}`,
  '',
].join('\n')

const threadItem = {
  id: agentAnswer.threadId,
  agentId: AGENT_ID,
  subject: 'user_123',
  createdAt: '2026-01-05T09:30:00.000Z',
  updatedAt: '2026-01-05T09:30:04.000Z',
}
const message = 'Two chairs, 25 in all.'

export const threadList = { threads: [{ ...threadItem, title: message }], nextCursor: null } satisfies JsonObject

export const thread = {
  ...threadItem,
  turns: [
    {
      seq: 1,
      createdAt: threadItem.updatedAt,
      message,
      dataContext: {},
      toolCalls: [
        {
          toolCallId: 'call_1',
          toolId: 'tool_add',
          args: { a: 12, b: 13 },
          result: { success: true, value: { sum: 25 } },
        },
      ],
      answer: JSON.stringify(agentAnswer.data),
      metadata: { ...agentAnswer.metadata, rounds: 1, toolCalls: 1 },
    },
  ],
  nextCursor: null,
} satisfies JsonObject

const ofTurn = { turnId: 'trn_01KAHVE6V80000XJ5Q8C3R7M1D', stepId: 'ask', visit: 1 }

/** The calls of a turn in a run. */
export const calls = [
  {
    ...{ ...ofTurn, seq: 1, kind: 'model', name: 'gpt-5-mini', text: '' },
    ...{ usage: { inputTokens: 180, outputTokens: 22, totalTokens: 202 }, cost: null, errorCode: null },
    ...{ startedAt: threadItem.createdAt, endedAt: '2026-01-05T09:30:01.400Z' },
  },
  {
    ...{ ...ofTurn, seq: 2, kind: 'tool', name: 'tool_add', toolCallId: 'call_1' },
    ...{ args: { a: 12, b: 13 }, result: { success: true, value: { sum: 25 } } },
    ...{ startedAt: '2026-01-05T09:30:01.410Z', endedAt: '2026-01-05T09:30:01.425Z' },
  },
] satisfies JsonObject[]

/** The same turn. */
export const turn = {
  ...{
    id: ofTurn.turnId,
    agentId: AGENT_ID,
    version: 2,
    via: 'run',
    runId: 'run_01KAHV6N3C0000G8VJ4M2ZQ5TX',
    workflowId: 'wf_orders',
  },
  ...{ stepId: ofTurn.stepId, visit: ofTurn.visit, threadId: threadItem.id, state: 'done', errorCode: null },
  ...{ usage: { inputTokens: 410, outputTokens: 61, totalTokens: 471 }, cost: null },
  ...{ startedAt: threadItem.createdAt, endedAt: threadItem.updatedAt },
} satisfies JsonObject
export const turnList = { turns: [turn], nextCursor: null } satisfies JsonObject
export const turnWithCalls = { ...turn, answer: null, calls, next: null } satisfies JsonObject
