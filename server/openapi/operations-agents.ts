import { z } from 'zod'
import { CreateAgent, ListAgents, ListAgentVersions, UpdateAgent } from '../agents/schema'
import type { JsonValue } from '../definition/json'
import * as example from './examples-agents'
import { CHAT } from './operation-chat'
import * as answers from './responses-agents'
import type { Answer, Operation } from './types'

const named = (summary: string, value: JsonValue) => ({ summary, value })

const definition = (description: string, value: JsonValue): Answer => ({
  description,
  schema: answers.Agent,
  headers: ['ETag'],
  examples: { agent: named('The agent', value) },
})

export const AGENT_OPERATIONS: Operation[] = [
  {
    id: 'invokeAgent',
    method: 'POST',
    path: '/api/agents/{agentId}/invoke',
    tag: 'Agents',
    summary: 'Ask an agent',
    description:
      'The answer is data of the output schema of the agent, checked before it is given. Without `threadId` a new conversation begins. A supervisor agent, and one without an output schema, cannot be asked here.',
    role: 'operator',
    headers: ['Idempotency-Key'],
    body: {
      schema: answers.InvokeAgentBody,
      required: true,
      examples: { message: named('A message', { message: 'Two chairs, 25 in all.' }) },
    },
    answers: {
      200: {
        description: 'The answer.',
        schema: answers.AgentAnswer,
        examples: { answer: named('An answer', example.agentAnswer) },
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
    tag: 'Agents',
    summary: 'Get the output schema',
    description: 'What the answers of an agent look like.',
    role: 'viewer',
    query: z.object({ version: z.string().optional() }),
    answers: {
      200: {
        description: 'The schema.',
        schema: answers.AgentSchema,
        examples: { schema: named('A schema', example.agentSchema) },
      },
    },
    errors: ['AGENT_NOT_FOUND', 'AGENT_NO_STRUCTURED_OUTPUT'],
  },
  {
    id: 'listAgents',
    method: 'GET',
    path: '/api/agents',
    tag: 'Agents',
    summary: 'List agents',
    description: 'The last changed first.',
    role: 'viewer',
    query: ListAgents,
    answers: {
      200: {
        description: 'The agents.',
        schema: z.array(answers.AgentItem),
        headers: ['X-Total-Count', 'Link'],
        examples: { list: named('One agent', [example.agentItem]) },
      },
    },
    errors: [],
  },
  {
    id: 'createAgent',
    method: 'POST',
    path: '/api/agents',
    tag: 'Agents',
    summary: 'Create an agent',
    description: 'A new draft. What it names is checked at publish.',
    role: 'editor',
    headers: ['Idempotency-Key'],
    body: { schema: CreateAgent, required: true, examples: { agent: named('An agent', example.createAgent) } },
    answers: { 201: { ...definition('The new draft.', example.draftAgent), headers: ['ETag', 'Location'] } },
    errors: [],
  },
  {
    id: 'getAgent',
    method: 'GET',
    path: '/api/agents/{agentId}',
    tag: 'Agents',
    summary: 'Get an agent',
    description: 'As last saved. Archived ones too.',
    role: 'viewer',
    answers: { 200: definition('The agent.', example.agent) },
    errors: ['AGENT_NOT_FOUND'],
  },
  {
    id: 'updateAgent',
    method: 'PUT',
    path: '/api/agents/{agentId}',
    tag: 'Agents',
    summary: 'Change an agent',
    description: 'Saves the next version. What the body does not name stays.',
    role: 'editor',
    headers: ['If-Match'],
    body: { schema: UpdateAgent, required: true, examples: { name: named('Another name', { name: 'Orders' }) } },
    answers: { 200: definition('The agent as saved.', example.agent) },
    errors: ['AGENT_NOT_FOUND', 'CONFLICT', 'VERSION_CONFLICT'],
  },
  {
    id: 'archiveAgent',
    method: 'DELETE',
    path: '/api/agents/{agentId}',
    tag: 'Agents',
    summary: 'Archive an agent',
    description: 'It cannot be asked any more. Can be undone; archiving again changes nothing.',
    role: 'editor',
    answers: { 200: definition('The archived agent.', { ...example.agent, status: 'archived' }) },
    errors: ['AGENT_NOT_FOUND'],
  },
  {
    id: 'unarchiveAgent',
    method: 'POST',
    path: '/api/agents/{agentId}/unarchive',
    tag: 'Agents',
    summary: 'Bring an archived agent back',
    description: 'As a draft. On one that is not archived it changes nothing.',
    role: 'editor',
    headers: ['Idempotency-Key'],
    answers: { 200: definition('The draft.', { ...example.agent, status: 'draft' }) },
    errors: ['AGENT_NOT_FOUND'],
  },
  {
    id: 'publishAgent',
    method: 'POST',
    path: '/api/agents/{agentId}/publish',
    tag: 'Agents',
    summary: 'Publish the latest version',
    description: 'Its tools, and the agents it hands things to, must exist.',
    role: 'editor',
    headers: ['Idempotency-Key', 'If-Match'],
    answers: { 200: definition('The published agent.', example.agent) },
    errors: ['AGENT_NOT_FOUND', 'CONFLICT', 'VERSION_CONFLICT', 'VALIDATION_FAILED'],
  },
  {
    id: 'listAgentVersions',
    method: 'GET',
    path: '/api/agents/{agentId}/versions',
    tag: 'Agents',
    summary: 'List the versions',
    description: 'Newest first.',
    role: 'viewer',
    query: ListAgentVersions,
    answers: {
      200: {
        description: 'The versions.',
        schema: z.array(answers.AgentVersionItem),
        headers: ['X-Total-Count', 'Link'],
        examples: { list: named('One version', [example.agentVersionItem]) },
      },
    },
    errors: ['AGENT_NOT_FOUND'],
  },
  {
    id: 'getAgentVersion',
    method: 'GET',
    path: '/api/agents/{agentId}/versions/{version}',
    tag: 'Agents',
    summary: 'Get a version',
    description: 'All that a version says. `version` is a number, `latest` or `published`.',
    role: 'viewer',
    answers: {
      200: {
        description: 'The version.',
        schema: answers.AgentVersion,
        headers: ['ETag'],
        examples: { version: named('A version', example.agentVersion) },
      },
    },
    errors: ['AGENT_NOT_FOUND'],
  },
]
