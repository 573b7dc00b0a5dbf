import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { MAX_PLACE } from '../definition/branches'
import { component, components } from '../definition/component'
import { unstorable } from '../definition/json'
import { StepRef } from '../definition/step-ref'

export const MAX_COMMENT = 5_000

/** The text of a comment. */
export const CommentText = z
  .string()
  .trim()
  .max(MAX_COMMENT)
  .refine((text) => unstorable(text) === null, 'is not valid text')

/** The person an API key answers for. */
export const AnsweredBy = z.string().trim().min(1).max(256).optional()

export const ResumeRun = z
  .discriminatedUnion('type', [
    component('CollectInputsAnswer', {
      type: z.literal('collect_inputs').describe('Must match the `type` of the pause.'),
      data: z.record(z.string(), AnyJson).default({}).describe('Values for the `fields` of the pause.'),
      stepId: StepRef.optional().describe('Answer only a pause of this step.'),
      pauseId: z.string().max(MAX_PLACE).optional().describe('Answer only this pause.'),
      answeredBy: AnsweredBy.describe(
        'Whom an API key answers for: an email address, or your system’s own name for the person. By default the key itself.',
      ),
    }),
    component('RequestUserActionAnswer', {
      type: z.literal('request_user_action').describe('Must match the `type` of the pause.'),
      actionId: z.string().min(1).max(100).describe('One of the offered `actions`.'),
      actionValue: z.string().max(10_000).optional().describe('The value of the choice; the action’s id by default.'),
      data: z.record(z.string(), AnyJson).nullish().describe('Values for the `fields` of the action, if it has any.'),
      remark: CommentText.optional().describe(
        'The reason, in the person’s words; a comment on the run. In run data too if the pause has `remark`.',
      ),
      stepId: StepRef.optional().describe('Answer only a pause of this step.'),
      pauseId: z.string().max(MAX_PLACE).optional().describe('Answer only this pause.'),
      answeredBy: AnsweredBy.describe(
        'Whom an API key answers for: an email address, or your system’s own name for the person. By default the key itself.',
      ),
    }),
  ])
  .register(components, { id: 'ResumeRun' })
export type ResumeRun = z.infer<typeof ResumeRun>

export const StopRun = component('StopRun', {
  runId: z.string().min(1).describe('The run to stop.'),
  workflowId: z.string().nullish().describe('If given, it must be the run’s workflow.'),
  reason: z.string().trim().max(1000).nullish().describe('Kept in the history of the run.'),
})
export type StopRun = z.infer<typeof StopRun>
