import { z } from 'zod'
import { Edge, Fields, Step } from '../definition/schema'

/** What the service answers, as schemas. The verbs do not parse their own answers; tests hold real ones against these. */

const time = (text: string) => z.iso.datetime().describe(`${text} ISO 8601 with milliseconds, in UTC.`)
const ms = (text: string) => z.int().min(0).describe(`${text} In milliseconds.`)
const anyObject = (text: string) => z.record(z.string(), z.json()).describe(text)

const item = {
  id: z.string().describe('The `workflowId` of the other calls.'),
  name: z.string(),
  description: z.string(),
  status: z.enum(['draft', 'published', 'archived']),
  createdAt: time('When it was created.'),
  updatedAt: time('When it was last saved, published or archived.'),
  version: z.int().min(1).describe('The latest saved version. Grows with every change.'),
  publishedVersion: z
    .int()
    .min(1)
    .nullable()
    .describe('The version that starts run; null when none was ever published.'),
}

const graph = {
  initialStep: z.string().nullable().describe('The step where a run begins; null while there is no step.'),
  steps: z.array(Step),
  edges: z.array(Edge),
  payload: Fields.describe('The START fields by name.'),
  onCancel: z.string().optional().describe('The first step of the path that runs when a run is cancelled.'),
}

export const WorkflowItem = z.object(item)

export const Workflow = z.object({
  ...item,
  ...graph,
  publishedAt: time('When a version was last published.').nullable(),
  archivedAt: time('When it was archived.').nullable(),
  hasUnpublishedChanges: z.boolean().describe('Whether the latest version is not the published one.'),
  createdBy: z.string().describe('The id of the key, or the subject of the token, that created it.'),
  updatedBy: z.string(),
})

export const Problem = z.object({
  severity: z.enum(['error', 'warning']),
  code: z.string().describe('For programs, such as `W_NO_END`.'),
  message: z.string(),
  stepId: z.string().optional(),
  field: z.string().optional().describe('The field of the step, or of the definition.'),
  suggestion: z.string().optional().describe('The name that was probably meant.'),
})

export const PublishedWorkflow = Workflow.extend({
  warnings: z.array(Problem).describe('What is legal, but perhaps not meant.'),
})

const versionItem = {
  id: z.string().describe("The workflow's."),
  version: z.int().min(1),
  name: z.string(),
  createdAt: time('When it was saved.'),
  createdBy: z.string(),
  publishedAt: time('When it was published.').nullable(),
  current: z.boolean().describe('Whether it is the latest.'),
  published: z.boolean().describe('Whether it is the one that starts run.'),
}

export const VersionItem = z.object(versionItem)
export const Version = z.object({ ...versionItem, description: z.string(), ...graph })
export const DeletedWorkflow = z.object({ id: z.string(), deleted: z.literal(true) })

const pause = {
  stepId: z.string().describe('The step that waits.'),
  id: z.string().describe('Of this pause; send it back as `pauseId` to answer this one and no other.'),
  createdAt: time('Since when it waits.'),
  expiresAt: time('Until when it waits.').nullable(),
  title: z.string().optional(),
  message: z.string().optional(),
}

export const PauseDescriptor = z.discriminatedUnion('type', [
  z.object({ type: z.literal('collect_inputs'), fields: Fields.describe('The fields to send as `data`.'), ...pause }),
  z.object({
    type: z.literal('request_user_action'),
    actions: z.array(z.object({ id: z.string(), label: z.string() })).describe('What may be chosen.'),
    ...pause,
  }),
])

const RunStatus = z.enum(['running', 'paused', 'completed', 'failed'])
const Outcome = z
  .enum(['succeeded', 'failed', 'cancelled', 'terminated', 'timed_out'])
  .nullable()
  .describe('How the run ended; null while it is open.')

export const StepRecord = z.object({
  stepId: z.string(),
  stepType: z.string(),
  stepName: z.string(),
  status: z.enum(['running', 'completed', 'failed']),
  startTime: time('When the first attempt began.'),
  endTime: time('When the step ended.').optional(),
  duration: ms('From the start to the end.').optional(),
  inputData: anyObject('Given to the step.'),
  outputData: anyObject('Produced by the step.'),
  usage: anyObject('What an agent took: tokens, model and thread.').optional(),
  error: z.string().optional().describe('Present if the step failed.'),
  errorCode: z.string().nullable().optional(),
  visit: z.int().min(1).describe('1 for the first visit of this step in this run, 2 for the second.'),
  attempt: z.int().min(1),
  attempts: z
    .array(
      z.object({
        attempt: z.int().min(1),
        startTime: time('When it began.'),
        endTime: time('When it ended.'),
        error: z.string().optional(),
        retryInMs: z.number().min(0).optional().describe('How long the next attempt waits. In milliseconds.'),
      }),
    )
    .optional()
    .describe('Every attempt, when there was more than one.'),
})

const RunError = z
  .object({ code: z.string(), message: z.string(), stepId: z.string().nullable() })
  .nullable()
  .describe('Why it ended badly; null when it did not.')

export const Run = z.object({
  runId: z.string(),
  workflowId: z.string(),
  workflowVersion: z.int().min(1).describe('The version it runs on until it ends.'),
  workflowName: z.string(),
  status: RunStatus,
  outcome: Outcome,
  currentStepId: z.string().nullable(),
  pauseSignal: PauseDescriptor.nullable().describe('What the run waits for; null when it is not paused.'),
  pauseSignals: z.array(PauseDescriptor).describe('All pauses that are open, the oldest first.'),
  data: anyObject('The input and what the steps have produced.'),
  stepExecutionHistory: z.array(StepRecord),
  result: anyObject('The final output.').nullable().describe('The final output; null until the run completes.'),
  error: RunError,
  startTime: time('When it was started.'),
  endTime: time('When it ended.').optional(),
  durationMs: ms('From the start to the end.').optional(),
  startedBy: z.string(),
  retryOf: z.string().nullable().describe('The run that this one repeats.'),
  cancellation: z
    .object({
      kind: z.enum(['cancel', 'terminate']),
      reason: z.string().nullable(),
      requestedBy: z.string(),
      requestedAt: time('When it was asked for.'),
      cleanup: z.enum(['completed', 'failed']).optional().describe('How the `onCancel` path ended.'),
    })
    .nullable(),
})

const RunItem = Run.pick({
  runId: true,
  workflowId: true,
  workflowName: true,
  workflowVersion: true,
  status: true,
  outcome: true,
  currentStepId: true,
  startTime: true,
  endTime: true,
  durationMs: true,
  startedBy: true,
  retryOf: true,
  error: true,
})

export const RunList = z.object({
  runs: z.array(RunItem),
  nextCursor: z.string().nullable().describe('Send it as `cursor` for the next page; null on the last one.'),
})

export const StartedRun = z.object({ runId: z.string() })
export const ResumedRun = z.object({ success: z.literal(true), runId: z.string(), status: RunStatus })
export const RepeatedRun = z.object({
  success: z.literal(true),
  runId: z.string().describe('The new run.'),
  retryOf: z.string().describe('The run that it repeats.'),
})
export const StoppedRun = z.object({
  success: z.literal(true),
  runId: z.string(),
  workflowId: z.string(),
  status: RunStatus,
  outcome: Outcome,
  reason: z.string().nullable(),
})

export const InputSchema = z.object({
  success: z.literal(true),
  data: z.object({ workflowId: z.string(), payload: Fields.describe('The START fields by name.') }),
})

const LogLine = z.object({
  level: z.enum(['debug', 'log', 'info', 'warn', 'error']),
  text: z.string(),
  truncated: z.literal(true).optional().describe('On the last line, when the script wrote more than is kept.'),
})
const debug = z.object({
  executionTime: ms('How long the tool ran.'),
  logs: z.array(LogLine).optional().describe('What a script wrote to its console; absent when it wrote nothing.'),
})

export const ToolResult = z.discriminatedUnion('success', [
  z.object({ success: z.literal(true), data: z.json().describe('Any JSON value.'), debug }),
  z.object({
    success: z.literal(false),
    error: z.object({
      message: z.string(),
      details: z.array(z.string()),
      code: z.string().describe('`EXECUTION_ERROR`, `TIMEOUT`, `OUTPUT_INVALID` or another of the tool’s kind.'),
    }),
    debug,
  }),
])

const check = z.enum(['ok', 'failed'])
export const Health = z.object({
  status: z.enum(['ok', 'unavailable']),
  checks: z.object({ database: check, engine: check }),
})

export const ErrorAnswer = z.object({
  success: z.literal(false),
  error: z.object({
    message: z.string().describe('For people.'),
    code: z.string().describe('For programs. New codes may be added.'),
    details: z
      .array(z.looseObject({ path: z.string().optional().describe('The place in the request.'), message: z.string() }))
      .describe('What is wrong, one entry each. Entries may have more fields.'),
  }),
  requestId: z.string().describe('Also the header `x-request-id`.'),
})

export const OpenApi = z.looseObject({ openapi: z.literal('3.1.1') })
