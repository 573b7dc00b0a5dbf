import * as answers from '../agents/answers'
import * as examples from '../agents/examples'
import { openStream, streamAnswer, takesStream } from '../http/sse'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { Approvals, answerApprovals } from './approve'
import { CHAT } from './chat-endpoints'
import { invokeAgent, openInvocation } from './invoke'
import { AnswerEvent, APPROVAL_ID, responseOf, WAITS } from './waits'

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
      'The answer is data that matches the agent’s output schema. Without `threadId` it starts a new conversation. A supervisor, or an agent without an output schema, cannot be invoked. With `Accept: text/event-stream` the response is a stream of events: `answer.partial` with the data so far, `tool.call`, `tool.result`, `handoff`, and finally `answer.done` with the answer, or `error`. If people are asked about a call of the agent, the stream ends with `answer.waiting`, after an `approval.requested` for each question. After a lost connection, or once the questions are answered, send the same body with `Last-Event-ID` within an hour to continue.',
    permission: 'agent:invoke',
    headers: ['Idempotency-Key', 'Last-Event-ID'],
    body: {
      schema: answers.InvokeAgentBody,
      required: true,
      examples: {
        message: example('A message', { message: 'Two chairs, 25 in all.' }),
        file: example('With a file', { message: 'Read the order.', files: [{ fileId: examples.FILE_ID }] }),
      },
    },
    answers: {
      200: {
        ...answer('The answer.', answers.AgentAnswer, { answer: example('An answer', examples.agentAnswer) }),
        stream: examples.answerEvents,
        event: AnswerEvent,
      },
      202: WAITS,
      204: { description: 'The client has seen the end; do not reconnect.' },
    },
    errors: [
      'MESSAGE_REQUIRED',
      'FILE_NOT_SUPPORTED',
      'FILE_NOT_FOUND',
      'AGENT_NO_STRUCTURED_OUTPUT',
      'AGENT_SUPERVISOR',
      'AGENT_NOT_FOUND',
      'THREAD_NOT_FOUND',
      'THREAD_BUSY',
      'BUDGET_EXCEEDED',
      'THREAD_WAITING',
      'TOO_MANY_STREAMS',
      'OUTPUT_SCHEMA_MISMATCH',
      'MODEL_ERROR',
    ],
    limit: 'invokes',
    // A stream that is resumed is no second message.
    keepsAnswer: (request) => !takesStream(request) || !request.headers.has('last-event-id'),
    run: async ({ ctx, params: { agentId }, body, request, signal }) => {
      if (!takesStream(request)) return responseOf(agentId, await invokeAgent(ctx, { agentId, body }, signal))
      const asked = { agentId, body, lastEventId: request.headers.get('last-event-id') }
      return streamAnswer(await openStream(ctx.tenantId, request.signal, () => openInvocation(ctx, asked, signal)))
    },
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
