import { z } from 'zod'
import { component } from '../definition/component'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { AGENT_ID } from './examples'
import { getUsage, ReadUsage } from './get-usage'

const count = z.int().min(0)

const UsageReport = component('UsageReport', {
  from: z.iso.date(),
  to: z.iso.date(),
  by: z.enum(['day', 'agent', 'subject']),
  usage: z.array(
    component('UsageEntry', {
      key: z.string().describe('The day, the id of the agent, or the subject.'),
      calls: count.describe('Calls of models.'),
      inputTokens: count,
      cachedTokens: count.describe('Those of the input that the provider had in its cache.'),
      outputTokens: count,
      cost: z.number().min(0).describe('In US dollars, of the calls whose price is known.'),
    }),
  ),
})

const usage = { calls: 12, inputTokens: 24_310, cachedTokens: 18_000, outputTokens: 1_954, cost: 0.1184 }

export const USAGE_ENDPOINTS = {
  getUsage: endpoint({
    method: 'GET',
    path: '/api/usage',
    tag: 'Usage',
    permission: 'agent:read',
    summary: 'Read what agents used',
    description:
      'Calls of models in runs, invocations and chats, their tokens and cost. Days are those of UTC and kept for 400 days. Agents and subjects with the largest usage come first, at most 1,000. The token of a subject gets only its own usage.',
    query: ReadUsage,
    answers: {
      200: answer('The usage.', UsageReport, {
        agents: example('By agent', {
          from: '2026-11-01',
          to: '2026-11-30',
          by: 'agent',
          usage: [{ key: AGENT_ID, ...usage }],
        }),
      }),
    },
    errors: [],
    run: async ({ ctx, query }) => ({ body: await getUsage(ctx, query) }),
  }),
}
