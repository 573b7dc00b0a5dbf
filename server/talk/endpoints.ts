import * as answers from '../agents/answers'
import * as examples from '../agents/examples'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { CHAT } from './chat-endpoints'
import { invokeAgent } from './invoke'

const parameters = { agentId: { name: 'agentId', description: 'The agent.', example: examples.AGENT_ID } }

/** Talking to an agent; `AGENT_ENDPOINTS` are about its definition and what it has said. */
export const TALK_ENDPOINTS = {
  invokeAgent: endpoint({
    method: 'POST',
    path: '/api/agents/{agentId}/invoke',
    parameters,
    tag: 'Agents',
    summary: 'Invoke an agent',
    description:
      'The answer is data that matches the agent’s output schema. Without `threadId` it starts a new conversation. A supervisor, or an agent without an output schema, cannot be invoked.',
    permission: 'agent:invoke',
    headers: ['Idempotency-Key'],
    body: {
      schema: answers.InvokeAgentBody,
      required: true,
      examples: { message: example('A message', { message: 'Two chairs, 25 in all.' }) },
    },
    answers: {
      200: answer('The answer.', answers.AgentAnswer, { answer: example('An answer', examples.agentAnswer) }),
    },
    errors: [
      'MESSAGE_REQUIRED',
      'AGENT_NO_STRUCTURED_OUTPUT',
      'AGENT_SUPERVISOR',
      'AGENT_NOT_FOUND',
      'THREAD_NOT_FOUND',
      'THREAD_BUSY',
      'BUDGET_EXCEEDED',
      'THREAD_WAITING',
      'OUTPUT_SCHEMA_MISMATCH',
      'MODEL_ERROR',
    ],
    limit: 'invokes',
    run: async ({ ctx, params, body, signal }) => ({
      body: await invokeAgent(ctx, { agentId: params.agentId, body }, signal),
    }),
  }),
  chat: CHAT,
}
