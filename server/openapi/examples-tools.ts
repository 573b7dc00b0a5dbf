import type { JsonObject } from '../definition/json'
import { versionItem, workflowItem } from './examples'
import { agentAnswer } from './examples-agents'

export const createTool = {
  name: 'Add',
  description: 'Adds two numbers.',
  kind: 'script',
  config: { code: 'return args.a + args.b' },
} satisfies JsonObject

/** A script that calls out. */
export const createFetchingTool = {
  name: 'Exchange rate',
  kind: 'script',
  config: {
    code: 'const response = await fetch(`https://rates.example.com/latest?base=${args.base}`)\nreturn (await response.json()).rates',
    allowedHosts: ['rates.example.com'],
  },
} satisfies JsonObject

const { name, description, kind, config } = createTool
const said = { config, inputSchema: null, outputSchema: null } satisfies JsonObject

export const toolItem = { ...workflowItem, id: 'tool_add', name, description, kind } satisfies JsonObject

export const tool = {
  ...toolItem,
  ...said,
  publishedAt: workflowItem.updatedAt,
  archivedAt: null,
  hasUnpublishedChanges: false,
  createdBy: versionItem.createdBy,
  updatedBy: versionItem.createdBy,
} satisfies JsonObject

export const draftTool = {
  ...tool,
  status: 'draft',
  version: 1,
  publishedVersion: null,
  publishedAt: null,
  hasUnpublishedChanges: true,
} satisfies JsonObject

export const toolVersionItem = { ...versionItem, id: toolItem.id, name, kind } satisfies JsonObject
export const toolVersion = { ...toolVersionItem, description, ...said } satisfies JsonObject

export const failure = {
  success: false,
  error: { message: 'This tool always fails.', details: [], code: 'EXECUTION_ERROR' },
} satisfies JsonObject

export const unreachable = {
  success: false,
  error: { message: 'The MCP server could not be reached.', details: [], code: 'CONNECTION_ERROR' },
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
