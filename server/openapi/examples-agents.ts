import type { JsonObject } from '../definition/json'
import { versionItem, workflowItem } from './examples'

const ID = 'agt_01KAHVD2S40000K6T8W3Y1M5QN'

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
const said = {
  instructions,
  model,
  tools: [{ toolId: 'tool_add', version: 'latest' }],
  outputSchema,
  supervisor: false,
  handoffs: [],
} satisfies JsonObject

export const agentItem = { ...workflowItem, id: ID, name, description: '' } satisfies JsonObject

export const agent = {
  ...agentItem,
  ...said,
  publishedAt: workflowItem.updatedAt,
  archivedAt: null,
  hasUnpublishedChanges: false,
  createdBy: versionItem.createdBy,
  updatedBy: versionItem.createdBy,
} satisfies JsonObject

export const draftAgent = {
  ...agent,
  status: 'draft',
  version: 1,
  publishedVersion: null,
  publishedAt: null,
  hasUnpublishedChanges: true,
} satisfies JsonObject

export const agentVersionItem = { ...versionItem, id: ID, name } satisfies JsonObject
export const agentVersion = { ...agentVersionItem, description: '', ...said } satisfies JsonObject
export const agentSchema = { agentId: ID, name, outputSchema } satisfies JsonObject

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
