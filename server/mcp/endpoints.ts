import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { McpMessage, McpReply } from './schema'
import { answerMcp } from './serve'

export const MCP_ENDPOINTS = {
  mcp: endpoint({
    method: 'POST',
    path: '/api/mcp',
    tag: 'MCP',
    summary: 'Send a message of the Model Context Protocol',
    description:
      'Streamable HTTP. The response is JSON, or a stream if a call has questions for the user of a client that can ask them. Published workflows, agents and tools are tools; the newest runs and open tasks are resources. The role determines which of them are listed and may be called.',
    permission: 'run:read',
    openBody: true,
    body: {
      schema: McpMessage,
      required: true,
      examples: {
        list: example('List the tools', { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
        call: example('Call one', {
          jsonrpc: '2.0',
          id: 2,
          method: 'tools/call',
          params: { name: 'order_approval_5d41b0c2', arguments: { item: 'Chair', amount: 2 } },
        }),
      },
    },
    answers: {
      200: answer('The response to a request.', McpReply, {
        empty: example('The response to `ping`', { jsonrpc: '2.0', id: 1, result: {} }),
      }),
      202: { description: 'A notification, or the response to a question, was accepted.' },
    },
    errors: [],
    run: ({ ctx, body, request }) => answerMcp(ctx, body, request),
  }),
}
