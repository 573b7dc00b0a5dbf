import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import * as answers from './call-answers'
import * as examples from './examples'
import { getTurn, ReadTurn } from './get-turn'
import { ListTurns, listTurns } from './list-turns'

const common = {
  tag: 'Agents',
  parameters: {
    agentId: { description: 'The agent.', example: examples.AGENT_ID },
    turnId: { description: 'The turn.', example: examples.turn.id },
  },
} as const

export const TURN_ENDPOINTS = {
  listTurns: endpoint({
    ...common,
    permission: 'agent:read',
    method: 'GET',
    path: '/api/agents/{agentId}/turns',
    summary: 'List the turns of an agent',
    description:
      'Newest first, also those that are under way, wait or have failed. Tokens get their own, and those of runs that they started. A turn outside of runs is kept for 30 days.',
    query: ListTurns,
    answers: {
      200: answer('A page of turns.', answers.TurnList, { list: example('One turn', examples.turnList) }),
    },
    errors: ['AGENT_NOT_FOUND'],
    run: async ({ ctx, params, query }) => ({ body: await listTurns(ctx, params.agentId, query) }),
  }),
  getTurn: endpoint({
    ...common,
    permission: 'agent:read',
    method: 'GET',
    path: '/api/agents/{agentId}/turns/{turnId}',
    summary: 'Read a turn with its calls',
    description:
      'The calls as `GET /api/workflow/calls/{runId}` lists them, and the answer that the caller of invoke or chat gets.',
    query: ReadTurn,
    answers: {
      200: answer('The turn.', answers.TurnWithCalls, {
        turn: example('A turn with two calls', examples.turnWithCalls),
      }),
    },
    errors: ['TURN_NOT_FOUND'],
    run: async ({ ctx, params, query }) => ({ body: await getTurn(ctx, params, query) }),
  }),
}
