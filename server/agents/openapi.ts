import { z } from 'zod'
import { example } from '../openapi/example'
import type { Operation, Texts } from '../openapi/types'
import { type VersionedApi, versionedOperations } from '../versioned/openapi'
import * as answers from './openapi-answers'
import { CHAT } from './openapi-chat'
import * as examples from './openapi-examples'
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
    list: 'The last changed first.',
    create: 'A new draft. What it names is checked at publish.',
    get: 'As last saved. Archived ones too.',
    update: 'Saves the next version. What the body does not name stays.',
    archive: 'It cannot be asked any more. Can be undone; archiving again changes nothing.',
    publish: 'Its tools, and the agents it hands things to, must exist.',
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
    summary: 'Ask an agent',
    description:
      'The answer is data of the output schema of the agent, checked before it is given. Without `threadId` a new conversation begins. A supervisor agent, and one without an output schema, cannot be asked here.',
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
  {
    id: 'getAgentSchema',
    method: 'GET',
    path: '/api/agents/{agentId}/schema',
    parameters,
    tag: 'Agents',
    summary: 'Get the output schema',
    description: 'What the answers of an agent look like.',
    role: 'viewer',
    query: z.object({ version: z.string().optional() }),
    queryTexts: { version: '`latest` (unless given), `published` or a number.' },
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
  description: 'Text for people, and for agents that hand something over.',
  instructions: 'What the agent is told before every message.',
  model: 'The model it speaks with.',
  tools: 'The tools it may call: ids, or ids with versions.',
  outputSchema: 'JSON Schema of its answers, an object; null for an agent that answers in words.',
  supervisor: 'Whether it hands messages to other agents. Such a one cannot be asked for data.',
  handoffs: 'The agents it may hand something to: ids, or ids with versions.',
}

/** What the fields mean of the bodies that the verbs parse, by schema and field. */
export const AGENT_TEXTS: Texts = {
  InvokeAgent: {
    message: 'What is said to the agent.',
    dataContext: 'More that the agent and its tools can read.',
    threadId: 'Of an earlier answer, to go on with that conversation.',
    version: '`latest`, `published`, or a number, also as text.',
  },
  Chat: {
    agentId: 'Whom to speak with.',
    message: 'What is said to the agent.',
    dataContext: 'More that the agent and its tools can read.',
    threadId: 'Of an earlier answer, to go on with that conversation.',
    version: '`latest`, `published`, or a number, also as text.',
  },
  CreateAgent: FIELDS,
  UpdateAgent: {
    ...FIELDS,
    version: 'The version you have seen. When there is a newer one, nothing is saved and the answer is 409.',
  },
  ModelConfig: {
    provider: 'Who runs the model. `scripted` needs no key and is for trying things out.',
    modelId: 'In the words of the provider.',
    baseUrl: 'Of an `openai-compatible` service, such as `https://llm.example.com/v1`; of no other.',
    apiKey: 'Names the secret that holds the key, such as `${secrets.OPENAI_API_KEY}`; never the key itself.',
    settings: 'Settings of a call. Unknown ones are refused.',
    prices: 'Of a million tokens, in any one currency; with them answers say what they cost.',
  },
}
