import * as answers from '../agents/answers'
import * as examples from '../agents/examples'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { Approvals, answerApprovals } from './approve'
import { CHAT } from './chat-endpoints'
import { invokeAgent } from './invoke'
import { APPROVAL_ID, responseOf, WAITS } from './waits'

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
      202: WAITS,
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
    run: async ({ ctx, params, body, signal }) =>
      responseOf(params.agentId, await invokeAgent(ctx, { agentId: params.agentId, body }, signal)),
  }),
  chat: CHAT,
  answerApprovals: endpoint({
    method: 'POST',
    path: '/api/agents/{agentId}/threads/{threadId}/approvals',
    parameters: {
      ...parameters,
      threadId: { description: 'The thread that waits.', example: examples.thread.id },
    },
    tag: 'Agents',
    summary: 'Answer what an agent asks',
    description:
      'Approves or rejects calls of the turn that waits in the thread, as `POST /api/workflow/resume/{runId}` does, and returns what the request that began the turn would have. The rules of the task apply: who may answer, and how many votes it needs.',
    permission: 'agent:invoke',
    body: {
      schema: Approvals,
      required: true,
      examples: {
        approve: example('A call is approved', { approvals: [{ approvalId: APPROVAL_ID, approved: true }] }),
        reject: example('A call is rejected', {
          approvals: [{ approvalId: APPROVAL_ID, approved: false, reason: 'The order was never paid.' }],
        }),
      },
    },
    answers: {
      200: answer('The answer.', answers.AgentAnswer.or(answers.ChatAnswer), {
        answer: example('An answer', examples.agentAnswer),
      }),
      202: WAITS,
    },
    errors: ['THREAD_NOT_FOUND', 'RUN_NOT_PAUSED', 'NOT_ASSIGNED', 'SELF_APPROVAL', 'ALREADY_VOTED', 'MODEL_ERROR'],
    run: async ({ ctx, params, body, signal }) =>
      responseOf(params.agentId, await answerApprovals(ctx, { ...params, body }, signal)),
  }),
}
