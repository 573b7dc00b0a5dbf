import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import * as answers from './answers'
import * as examples from './examples'
import { getThread, ReadThread } from './get-thread'
import { ListThreads, listThreads } from './list-threads'

const common = {
  tag: 'Agents',
  parameters: {
    agentId: { description: 'The agent.', example: examples.AGENT_ID },
    threadId: { description: 'The thread.', example: examples.thread.id },
  },
} as const

export const THREAD_ENDPOINTS = {
  listThreads: endpoint({
    ...common,
    permission: 'agent:read',
    method: 'GET',
    path: '/api/agents/{agentId}/threads',
    summary: 'List the threads of an agent',
    description:
      'Most recently answered first. Tokens get the threads of their own subject, API keys those of everybody.',
    query: ListThreads,
    answers: {
      200: answer('A page of threads.', answers.ThreadList, { list: example('One thread', examples.threadList) }),
    },
    errors: ['AGENT_NOT_FOUND'],
    run: async ({ ctx, params, query }) => ({ body: await listThreads(ctx, params.agentId, query) }),
  }),
  getThread: endpoint({
    ...common,
    permission: 'agent:read',
    method: 'GET',
    path: '/api/agents/{agentId}/threads/{threadId}',
    summary: 'Read a thread',
    description:
      'The turns with their messages and tool calls, newest first. Values of the vault are masked. A page of more than 4 MiB has fewer turns than `limit`, but at least one.',
    query: ReadThread,
    answers: {
      200: answer('The thread.', answers.Thread, { thread: example('A thread with one turn', examples.thread) }),
    },
    errors: ['THREAD_NOT_FOUND'],
    run: async ({ ctx, params, query }) => ({ body: await getThread(ctx, params, query) }),
  }),
}
