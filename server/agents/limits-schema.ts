import { z } from 'zod'
import type { AgentLimits as Limits } from '../definition/agent'
import { assigneeProblems, MAX_ASSIGNEES, WANTED } from '../definition/asking'
import { components } from '../definition/component'
import { parseDuration } from '../definition/duration'
import { ASSIGNEE } from '../definition/people'
import { MOST_USED } from '../definition/settings'

const tokens = z.int().min(1).max(MOST_USED.tokens)
const cost = z.number().positive().max(MOST_USED.cost)

/** What all agents of a run may use together. */
export const AgentTotals = z
  .strictObject({ tokens: tokens.optional(), cost: cost.optional() })
  .describe('What all agents of a run may use together: `tokens`, and `cost` in US dollars.')
const duration = z
  .string()
  .max(200)
  .refine((text) => parseDuration(text) !== null, 'must be an ISO 8601 duration of at most ten years, such as PT4H')

const at = z
  .strictObject({
    ask: z
      .array(z.string().refine((text) => ASSIGNEE.test(text), WANTED))
      .min(1, 'needs at least one person, group or role')
      .max(MAX_ASSIGNEES)
      .superRefine((people, issues) => {
        for (const { message } of assigneeProblems(people)) issues.addIssue({ code: 'custom', message })
      })
      .describe('Who may answer: people, groups and roles, such as `role:admin`.'),
    dueIn: duration
      .optional()
      .describe('When it should be answered, such as `PT4H`. For people; nothing happens then.'),
    expiresIn: duration.optional().describe('How long people have, such as `P2D`; then the message fails.'),
  })
  .optional()
  .describe(
    'Who is asked at a limit: *Go on* lets the message use as much again, *Stop* fails it. Without it, it fails at once. Limits of the workspace ask only the people of the workspace; those of an agent without `at` ask them, too.',
  )

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
    at,
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
