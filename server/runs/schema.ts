import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { MAX_PLACE } from '../definition/branches'
import { component, components } from '../definition/component'
import { StepRef } from '../definition/step-ref'

/** Whom an API key answers for. */
export const AnsweredBy = z.string().trim().min(1).max(256).optional()

export const ResumeRun = z
  .discriminatedUnion('type', [
    component('CollectInputsAnswer', {
      type: z.literal('collect_inputs'),
      data: z.record(z.string(), AnyJson).default({}),
      stepId: StepRef.optional(),
      pauseId: z.string().max(MAX_PLACE).optional(),
      answeredBy: AnsweredBy,
    }),
    component('RequestUserActionAnswer', {
      type: z.literal('request_user_action'),
      actionId: z.string().min(1).max(100),
      actionValue: z.string().max(10_000).optional(),
      stepId: StepRef.optional(),
      pauseId: z.string().max(MAX_PLACE).optional(),
      answeredBy: AnsweredBy,
    }),
  ])
  .register(components, { id: 'ResumeRun' })
export type ResumeRun = z.infer<typeof ResumeRun>

export const StopRun = component('StopRun', {
  runId: z.string().min(1),
  workflowId: z.string().nullish(),
  reason: z.string().trim().max(1000).nullish(),
})
export type StopRun = z.infer<typeof StopRun>
