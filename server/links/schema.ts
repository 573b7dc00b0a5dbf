import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { MAX_PLACE } from '../definition/branches'
import { component } from '../definition/component'
import { durationMs } from '../definition/duration'
import { StepRef } from '../definition/step-ref'
import { AnsweredBy, CommentText } from '../runs/schema'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** How long a link works: from a minute to this many days. */
export function life({ longest, usual }: { longest: number; usual: string }) {
  return z
    .string()
    .max(50)
    .refine((text) => {
      const ms = durationMs(text)
      return ms !== null && ms >= MINUTE_MS && ms <= longest * DAY_MS
    }, `must be an ISO 8601 duration from PT1M to P${longest}D, such as PT12H or P7D`)
    .default(usual)
}

export const CreateTaskLink = component('CreateTaskLink', {
  pauseId: z
    .string()
    .max(MAX_PLACE)
    .optional()
    .describe('The pause to answer; needed if the run waits for several answers.'),
  stepId: StepRef.optional().describe('The step whose pause to answer, in place of `pauseId`.'),
  expiresIn: life({ longest: 30, usual: 'P7D' }).describe(
    'How long it works, as an ISO 8601 duration from `PT1M` to `P30D`. It never outlives the pause.',
  ),
  answeredBy: AnsweredBy.describe(
    'Whom the answer counts for, as for resume. Only an API key can name another person.',
  ),
})

export const ListTaskLinks = z.object({
  pauseId: z.string().max(MAX_PLACE).optional().describe('Only those for this pause.'),
})

/** The input from a link's page. The task determines which of the two an answer needs. */
export const AnswerTaskLink = z.object({
  token: z.string().max(4_000),
  data: z.record(z.string(), AnyJson).optional(),
  actionId: z.string().max(100).optional(),
  remark: CommentText.optional(),
})
export type AnswerTaskLink = z.input<typeof AnswerTaskLink>
