import { z } from 'zod'
import { example } from '../openapi/example'
import type { Operation, Texts } from '../openapi/types'
import { type VersionedApi, versionedOperations } from '../versioned/openapi'
import * as answers from './openapi-answers'
import { CHAT } from './openapi-chat'
import * as examples from './openapi-examples'
import { THREAD_OPERATIONS } from './openapi-threads'
import { CreateAgent, ListAgents, UpdateAgent } from './schema'

const id = { name: 'agentId', description: 'The agent.', example: examples.AGENT_ID }
const parameters = { agentId: id }

const API: VersionedApi = {
  words: { one: 'agent', a: 'an agent', many: 'agents', whole: 'agent' },
  idPart: 'Agent',
  tag: 'Agents',
  path: '/api/agents',
  id,
  schemas: {
    item: answers.AgentItem,
    whole: answers.Agent,
    versionItem: answers.AgentVersionItem,
    version: answers.AgentVersion,
    create: CreateAgent,
    update: UpdateAgent,
    list: ListAgents,
  },
  examples: {
    item: examples.agentItem,
    whole: examples.agent,
    versionItem: examples.agentVersionItem,
    version: examples.agentVersion,
    create: { agent: example('An agent', examples.createAgent) },
    update: { name: 'Orders' },
  },
  descriptions: {
    list: 'Most recently changed first.',
    create: 'Creates a draft. The tools and agents it refers to are checked when it is published.',
    get: 'The latest saved version, including that of an archived agent.',
    update: 'Saves the next version. Fields that the body leaves out keep their values.',
    archive: 'An archived agent cannot be invoked. Unarchive brings it back; archiving again changes nothing.',
    publish: 'The tools it uses, and the agents it hands over to, must exist.',
    listVersions: 'Newest first.',
  },
  errors: { notFound: 'AGENT_NOT_FOUND', write: ['AGENT_NOT_FOUND', 'AGENT_ARCHIVED', 'VERSION_CONFLICT'] },
}

const { list, create, get, update, archive, unarchive, publish, listVersions, getVersion } = versionedOperations(API)

export const AGENT_OPERATIONS: Operation[] = [
  {
    id: 'invokeAgent',
    method: 'POST',
    path: '/api/agents/{agentId}/invoke',
    parameters,
    tag: 'Agents',
    summary: 'Invoke an agent',
    description:
      'The answer is data that matches the agent’s output schema. Without `threadId` it starts a new conversation. A supervisor, or an agent without an output schema, cannot be invoked.',
    role: 'operator',
    headers: ['Idempotency-Key'],
    body: {
      schema: answers.InvokeAgentBody,
      required: true,
      examples: { message: example('A message', { message: 'Two chairs, 25 in all.' }) },
    },
    answers: {
      200: {
        description: 'The answer.',
        schema: answers.AgentAnswer,
        examples: { answer: example('An answer', examples.agentAnswer) },
      },
    },
    errors: [
      'MESSAGE_REQUIRED',
      'AGENT_NO_STRUCTURED_OUTPUT',
      'AGENT_SUPERVISOR',
      'AGENT_NOT_FOUND',
      'THREAD_NOT_FOUND',
      'THREAD_BUSY',
      'OUTPUT_SCHEMA_MISMATCH',
      'MODEL_ERROR',
    ],
  },
  CHAT,
  ...THREAD_OPERATIONS,
  {
    id: 'getAgentSchema',
    method: 'GET',
    path: '/api/agents/{agentId}/schema',
    parameters,
    tag: 'Agents',
    summary: 'Get the output schema',
    description: 'The JSON Schema of the agent’s answers.',
    role: 'viewer',
    query: z.object({ version: z.string().optional() }),
    queryTexts: { version: '`latest` (the default), `published` or a number.' },
    answers: {
      200: {
        description: 'The schema.',
        schema: answers.AgentSchema,
        examples: { schema: example('A schema', examples.agentSchema) },
      },
    },
    errors: ['AGENT_NOT_FOUND', 'AGENT_NO_STRUCTURED_OUTPUT'],
  },
  list,
  create,
  get,
  update,
  archive,
  unarchive,
  { ...publish, errors: [...publish.errors, 'VALIDATION_FAILED'] },
  listVersions,
  getVersion,
]

const FIELDS = {
  name: 'Not unique.',
  description: 'For people, and for agents that decide whether to hand over to this one.',
  instructions: 'The system prompt.',
  model: 'The model it uses.',
  tools: 'The tools it may call: ids, or ids with versions.',
  outputSchema: 'JSON Schema of its answers, which are objects; null for an agent that answers in text.',
  supervisor: 'Whether it hands messages to other agents. A supervisor cannot be invoked, only chatted with.',
  handoffs: 'The agents it may hand over to: ids, or ids with versions.',
}

/** Descriptions of the fields of the request bodies, by schema and field. */
export const AGENT_TEXTS: Texts = {
  InvokeAgent: {
    message: 'The message to the agent.',
    dataContext: 'Extra data for the agent and its tools.',
    threadId: 'From an earlier answer, to continue that conversation.',
    version: '`latest`, `published`, or a number, also as text.',
  },
  Chat: {
    agentId: 'The agent to chat with.',
    message: 'The message to the agent.',
    dataContext: 'Extra data for the agent and its tools.',
    threadId: 'From an earlier answer, to continue that conversation.',
    version: '`latest`, `published`, or a number, also as text.',
  },
  UiChat: {
    agentId: 'The agent to chat with.',
    id: 'The chat’s id: the same id continues the same conversation. The id of a thread continues that one.',
    messages: 'The messages of the chat. Only the last one is read, and it must be from the user.',
    dataContext: 'Extra data for the agent and its tools.',
    threadId: 'The thread to continue, whatever the chat’s id is.',
    version: '`latest`, `published`, or a number, also as text.',
    trigger: 'Why the client sends it. Not read.',
    messageId: 'The message that the client wants again. Not read.',
  },
  UiMessage: {
    id: 'The client’s own. Not read.',
    role: '`user` or `assistant`.',
    parts: 'Its parts, in order.',
  },
  UiPart: { type: '`text` for text; other parts have fields of their own.', text: 'Of a part of that type.' },
  CreateAgent: FIELDS,
  UpdateAgent: {
    ...FIELDS,
    version: 'The version you last saw. If there is a newer one, nothing is saved and the response is 409.',
  },
  ModelConfig: {
    provider: 'Who runs the model. `scripted` needs no key and is for trying things out.',
    modelId: 'The provider’s name for the model.',
    baseUrl: 'Only for `openai-compatible`: the service’s address, such as `https://llm.example.com/v1`.',
    apiKey:
      'A reference to the secret that holds the key, such as `${secrets.OPENAI_API_KEY}`; never the key itself. A secret that is bound to hosts must be bound to the host the model is called at.',
    settings: 'Model settings. Unknown ones are refused.',
    prices: 'Per million tokens, in any one currency. With prices set, responses report their cost.',
  },
}
