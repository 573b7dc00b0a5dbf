import { z } from 'zod'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { type VersionedApi, versionedEndpoints } from '../versioned/endpoints'
import * as answers from './answers'
import * as examples from './examples'
import { getAgentSchema } from './get-schema'
import { AGENTS } from './lifecycle'
import { CreateAgent, ListAgents, UpdateAgent } from './schema'
import { THREAD_ENDPOINTS } from './thread-endpoints'
import { TURN_ENDPOINTS } from './turn-endpoints'

const id = { name: 'agentId', description: 'The agent.', example: examples.AGENT_ID }
const parameters = { agentId: id }

const API: VersionedApi = {
  noun: 'agent',
  words: { one: 'agent', a: 'an agent', many: 'agents', whole: 'agent' },
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

const { list, create, get, update, archive, unarchive, publish, listVersions, getVersion } = versionedEndpoints(
  API,
  AGENTS,
)

export const AGENT_ENDPOINTS = {
  ...THREAD_ENDPOINTS,
  ...TURN_ENDPOINTS,
  getAgentSchema: endpoint({
    method: 'GET',
    path: '/api/agents/{agentId}/schema',
    parameters,
    tag: 'Agents',
    summary: 'Get the output schema',
    description: 'The JSON Schema of the agent’s answers.',
    permission: 'agent:read',
    query: z.object({ version: z.string().optional().describe('`latest` (the default), `published` or a number.') }),
    answers: {
      200: answer('The schema.', answers.AgentSchema, { schema: example('A schema', examples.agentSchema) }),
    },
    errors: ['AGENT_NOT_FOUND', 'AGENT_NO_STRUCTURED_OUTPUT'],
    run: async ({ ctx, params, query }) => ({
      body: await getAgentSchema(ctx, { agentId: params.agentId, version: query.version }),
    }),
  }),
  listAgents: list,
  createAgent: create,
  getAgent: get,
  updateAgent: update,
  archiveAgent: archive,
  unarchiveAgent: unarchive,
  publishAgent: endpoint({ ...publish, errors: [...publish.errors, 'VALIDATION_FAILED'] }),
  listAgentVersions: listVersions,
  getAgentVersion: getVersion,
}
