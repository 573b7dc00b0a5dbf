import { z } from 'zod'
import type { AgentLimits as Limits } from '../definition/agent'
import { components } from '../definition/component'

const tokens = z.int().min(1).max(1e12)
const cost = z.number().positive().max(1e6)

/** What an agent, or all agents of a workspace, may use. */
export const AgentLimits = z
  .strictObject({
    call: z
      .strictObject({ tokens })
      .optional()
      .describe('Of one call of the model, estimated before it: a token for three characters, and `maxOutputTokens`.'),
    turn: z
      .strictObject({
        tokens: tokens.optional(),
        cost: cost.optional(),
        rounds: z
          .int()
          .min(1)
          .max(100)
          .optional()
          .describe('Rounds of tool calls, 10 by default; then it must answer.'),
        calls: z.int().min(1).max(1_000).optional().describe('Calls of tools, 64 by default; further ones fail.'),
      })
      .optional()
      .describe('Of one message, with the agents that it is handed over to.'),
    day: z.strictObject({ cost: cost.optional(), tokens: tokens.optional() }).optional().describe('Of a day (UTC).'),
    subjectDay: z.strictObject({ tokens }).optional().describe('Of each subject of tokens, a day, with all agents.'),
  })
  .describe('Costs are in US dollars. A limit stops at the first call of a model after it is reached.')
  .register(components, { id: 'AgentLimits' })

/** The limits that are set; undefined without any. */
export function setLimits(limits: Limits | undefined): Limits | undefined {
  const set = Object.entries(limits ?? {}).filter(([, one]) =>
    Object.values(one ?? {}).some((most) => most !== undefined),
  )
  return set.length > 0 ? Object.fromEntries(set) : undefined
}
