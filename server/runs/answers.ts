import { z } from 'zod'
import { Call, handedOverBy } from '../agents/call-answers'
import { AnyJson } from '../definition/any-json'
import { component, components } from '../definition/component'
import { Fields } from '../definition/schema'
import { ErrorReason } from '../openapi/errors'
import { ms, place, time } from '../openapi/fields'

/** Schemas of the responses. The verbs do not parse their own responses; tests check real ones against these. */

const anyObject = (text: string) => z.record(z.string(), AnyJson).describe(text)

const pause = {
  stepId: z.string().describe('The step that is waiting.'),
  id: z.string().describe('The pause’s id; send it back as `pauseId` to answer exactly this one.'),
  createdAt: time('When the pause began.'),
  expiresAt: time('When the pause times out.').nullable(),
  ...place,
  title: z.string().optional(),
  message: z.string().optional().describe('In Markdown.'),
  show: z
    .array(
      component('ShownValue', {
        label: z.string(),
        value: AnyJson,
        markdown: z.literal(true).optional().describe('The value is Markdown.'),
      }),
    )
    .optional()
    .describe('What the task is about, in the author’s order; absent if the author chose nothing.'),
  assignees: z
    .array(z.string())
    .optional()
    .describe('Who may answer, such as `role:admin` or `group:finance`; absent if anybody may.'),
  dueAt: time('When it should be answered.').optional(),
  reminders: component('PauseReminders', {
    after: z.string().describe('From the pause’s beginning to the first reminder, as an ISO 8601 duration.'),
    every: z.string().optional().describe('From each reminder to the next one.'),
    times: z.int().min(1).describe('The number of reminders.'),
    handTo: z
      .array(z.string())
      .optional()
      .describe('The `assignees` from then on, one interval after the last reminder.'),
  })
    .optional()
    .describe('When people are reminded; absent if they are not. The step’s record in the history has past reminders.'),
  remindAt: time('When the next reminder, or the hand-over, is due; absent if neither follows.').optional(),
}

export const PauseDescriptor = z
  .discriminatedUnion('type', [
    component('CollectInputsPause', {
      type: z.literal('collect_inputs'),
      fields: Fields.describe('The fields to send as `data`.'),
      ...pause,
    }),
    component('RequestUserActionPause', {
      type: z.literal('request_user_action'),
      actions: z
        .array(
          component('PauseAction', {
            id: z.string(),
            label: z.string(),
            fields: Fields.optional().describe('The fields to send as `data` with this action; absent if it has none.'),
          }),
        )
        .describe('The actions to choose from.'),
      remark: z
        .enum(['required', 'optional'])
        .optional()
        .describe('Whether the decision asks for a `remark`; absent if a remark is only a comment.'),
      needs: z
        .record(z.string(), z.int().min(1))
        .optional()
        .describe('How many votes each action needs; absent if the first answer decides.'),
      noSelfApproval: z.literal(true).optional().describe('The person who started the run may not answer.'),
      call: component('AskedCall', {
        toolId: z.string().describe('The tool; `handoff_` and the agent’s id if the agent hands over.'),
        version: z.union([z.string(), z.number()]).optional().describe('The version that is called.'),
        args: anyObject('The arguments. Those that may be changed are the `fields` of the action `approve`.'),
        why: z.string().describe('Why the model makes the call, in its own words; plain text.'),
      })
        .optional()
        .describe('The call of an agent that the decision is about.'),
      limit: component('ReachedLimit', {
        of: z.enum(['agent', 'workspace', 'run']).describe('Whose limit it is; `run`: of all agents of the run.'),
        name: z
          .enum([
            'call.tokens',
            'turn.tokens',
            'turn.cost',
            'day.tokens',
            'day.cost',
            'subjectDay.tokens',
            'run.tokens',
            'run.cost',
          ])
          .describe('As in `AgentLimits`; those of the run are `limits.agents` of its workflow.'),
        most: z.number().describe('Tokens or US dollars.'),
      })
        .optional()
        .describe('The limit at which an agent asks whether it continues: `approve` or `reject`.'),
      votes: z
        .array(
          component('PauseVote', {
            by: z.string().describe('A member’s id, a token’s `sub`, what an API key named, or the key’s id.'),
            name: z.string(),
            actionId: z.string(),
            actionValue: z.string(),
            data: anyObject('The values of the action’s fields.').optional(),
            remark: z.string().optional().describe('Present if the pause asks for one and it was given.'),
            via: z.string().optional().describe('The API key that named them, or the task link they used.'),
            at: time('When it was cast.'),
          }),
        )
        .optional()
        .describe('The votes so far, oldest first; present if votes decide.'),
      ...pause,
    }),
  ])
  .register(components, { id: 'PauseDescriptor' })

const RunStatus = z.enum(['running', 'paused', 'completed', 'failed'])
const Outcome = z
  .enum(['succeeded', 'failed', 'cancelled', 'terminated', 'timed_out'])
  .nullable()
  .describe('How the run ended; null while it is open.')

export const StepRecord = component('StepRecord', {
  stepId: z.string(),
  stepType: z.string(),
  stepName: z.string(),
  status: z.enum(['running', 'completed', 'failed']),
  startTime: time('When the first attempt started.'),
  endTime: time('When the step ended.').optional(),
  duration: ms('From start to end.').optional(),
  inputData: anyObject('The input of the step.'),
  outputData: anyObject('The output of the step.'),
  usage: anyObject(
    'What an agent used: the tokens and cost of all attempts together; model and thread are of the last. Present too if it failed.',
  ).optional(),
  error: z.string().optional().describe('Present if the step failed.'),
  errorCode: z.string().nullable().optional(),
  handled: z.literal(true).optional().describe('The step failed, and the run took the `error` exit.'),
  exit: z.string().optional().describe('The exit the run took, if the step has several.'),
  reminders: z
    .array(
      component('StepReminder', {
        at: time('When it was sent, or the task was handed over.'),
        to: z
          .array(z.string())
          .nullable()
          .optional()
          .describe('Of a reminder: whom it reminded, as in `assignees`; null for everybody who may answer tasks.'),
        number: z.int().min(1).optional().describe('Of a reminder: 1 for the first.'),
        times: z.int().min(1).optional().describe('Of a reminder: how many there are.'),
        handedTo: z.array(z.string()).optional().describe('Of a hand-over: the `assignees` from then on.'),
        from: z
          .array(z.string())
          .nullable()
          .optional()
          .describe('Of a hand-over: the `assignees` before; null if anybody could answer.'),
        after: z.int().min(1).optional().describe('Of a hand-over: how many reminders there were.'),
      }),
    )
    .optional()
    .describe('Of a task: its reminders and its hand-over, oldest first; absent without any.'),
  visit: z.int().min(1).describe('1 for the first visit of this step in this run or branch, 2 for the second.'),
  ...place,
  attempt: z.int().min(1),
  attempts: z
    .array(
      component('StepAttempt', {
        attempt: z.int().min(1),
        startTime: time('When it started.'),
        endTime: time('When it ended.'),
        error: z.string().optional(),
        usage: anyObject('What an agent used, if another attempt followed.').optional(),
        retryInMs: z.number().min(0).optional().describe('The delay before the next attempt. In milliseconds.'),
      }),
    )
    .optional()
    .describe('All attempts, if there was more than one.'),
})

const id = z.string().describe('For `Last-Event-ID`.')
const state = { runId: z.string(), status: RunStatus, outcome: Outcome }

/** The events of a run's stream, by their `id`, `event` and `data`. */
export const RunChanged = component('RunChanged', {
  id,
  event: z.literal('run').describe('The run has changed.'),
  data: z.object({
    ...state,
    currentStepId: z.string().nullable(),
    cancelling: z.boolean().describe('It was asked to stop, and has not ended.'),
    startTime: time('When it was started.'),
    endTime: time('When it ended.').optional(),
  }),
})
export const StepChanged = component('StepChanged', {
  id,
  event: z.literal('step').describe('A visit of a step has begun, or changed.'),
  data: StepRecord.pick({
    stepId: true,
    stepType: true,
    stepName: true,
    visit: true,
    status: true,
    branch: true,
    iteration: true,
    attempt: true,
    startTime: true,
    endTime: true,
    duration: true,
  }).extend({ runId: z.string(), errorCode: z.string().optional() }),
})
export const RunEnded = component('RunEnded', {
  id,
  event: z.literal('end').describe('The run has ended, and so does the stream.'),
  data: z.object(state),
})
export const CallRecorded = component('CallRecorded', {
  id,
  event: z.literal('call').describe('With `calls=true`: an agent has made a call, and it is recorded.'),
  data: z.object({
    runId: z.string(),
    turnId: z.string(),
    handedOverBy: handedOverBy.describe('Of an agent that was handed a message: the call that did so.'),
    stepId: z.string(),
    visit: z.int().min(1),
    ...place,
    seq: z.int().min(1).describe('Its number in the turn.'),
    kind: z.enum(['model', 'tool']),
    name: z.string().describe('The model, or the id of the tool.'),
    startedAt: time('When it began.'),
    endedAt: time('When it ended.'),
    errorCode: z.string().optional().describe('Why the answer of a model does not count, or a tool failed.'),
  }),
})
export const RunEvent = z
  .discriminatedUnion('event', [RunChanged, StepChanged, CallRecorded, RunEnded])
  .register(components, { id: 'RunEvent' })

/** Appended to the description of values that may be cut, because the replacement does not match their schema. */
const cut =
  ' In a response that would be larger than 16 MiB: `{ "$cut": true, "size", "href" }`, with the full value at `href`.'

const RunError = z
  .object({ code: z.string(), message: z.string(), stepId: z.string().nullable() })
  .nullable()
  .describe('Why the run failed; null if it did not.')

export const Run = component('Run', {
  runId: z.string(),
  workflowId: z.string(),
  workflowVersion: z.int().min(1).describe('The version the run uses. It changes only if the run is moved.'),
  workflowName: z.string(),
  businessKey: z
    .string()
    .optional()
    .describe('The workflow’s `businessKey` with the values of the input; left out if it has none.'),
  status: RunStatus,
  outcome: Outcome,
  currentStepId: z.string().nullable(),
  pauseSignal: PauseDescriptor.nullable().describe('What the run is waiting for; null if it is not paused.'),
  pauseSignals: z.array(PauseDescriptor).describe('All open pauses, oldest first.'),
  data: anyObject(`The input and the output of the steps.${cut}`),
  stepExecutionHistory: z.array(StepRecord).describe('All open records and the newest 5,000, oldest first.'),
  historyTotal: z.int().optional().describe('The number of records, if some were left out.'),
  historyHref: z.string().optional().describe('Where to read all records in pages, if some were left out.'),
  result: anyObject('The final output.').nullable().describe('The final output; null until the run completes.'),
  error: RunError,
  startTime: time('When it was started.'),
  endTime: time('When it ended.').optional(),
  durationMs: ms('From start to end.').optional(),
  startedBy: z.string(),
  startedVia: z
    .enum(['apiKey', 'jwt', 'user', 'test', 'system'])
    .describe(
      'How it was started: with an API key, with a signed token, in the dashboard, by the service (a schedule, an inbound webhook), or as a test run.',
    ),
  retryOf: z.string().nullable().describe('The run this one repeats.'),
  moves: z
    .array(
      component('RunMove', {
        fromVersion: z.int().min(1),
        toVersion: z.int().min(1),
        at: time('When it was moved.'),
        by: z.string().describe('Who moved it.'),
      }),
    )
    .optional()
    .describe('Its moves to other versions, oldest first; left out if there were none.'),
  parentRunId: z.string().optional().describe('The run whose step started this one; left out if none did.'),
  cancellation: z
    .object({
      kind: z.enum(['cancel', 'terminate']),
      reason: z.string().nullable(),
      requestedBy: z.string(),
      requestedAt: time('When it was requested.'),
      cleanup: z.enum(['completed', 'failed']).optional().describe('How the `onCancel` path ended.'),
    })
    .nullable(),
})

const RunItem = Run.pick({
  runId: true,
  workflowId: true,
  workflowName: true,
  businessKey: true,
  workflowVersion: true,
  status: true,
  outcome: true,
  currentStepId: true,
  startTime: true,
  endTime: true,
  durationMs: true,
  startedBy: true,
  startedVia: true,
  retryOf: true,
  error: true,
}).register(components, { id: 'RunItem' })

export const RunList = component('RunList', {
  runs: z.array(RunItem),
  nextCursor: z.string().nullable().describe('Send it as `cursor` for the next page; null on the last one.'),
})

export const History = component('RunHistory', {
  runId: z.string(),
  historyTotal: z.int().min(0).describe('How many records the run has.'),
  stepExecutionHistory: z.array(StepRecord).describe('Oldest first.'),
  next: z.string().nullable().describe('Send it as `after` for the next page; null on the last one.'),
})
export const CallList = component('CallList', {
  runId: z.string(),
  calls: z.array(Call).describe('In the order in which they were recorded.'),
  next: z.string().nullable().describe('Send it as `after` for the next page; null on the last one.'),
})
export const WholeValue = z.object({ value: AnyJson })

export const StartedRun = component('StartedRun', { runId: z.string() })
export const ResumedRun = component('ResumedRun', { success: z.literal(true), runId: z.string(), status: RunStatus })
export const RepeatedRun = component('RepeatedRun', {
  success: z.literal(true),
  runId: z.string().describe('The new run.'),
  retryOf: z.string().describe('The run it repeats.'),
})
export const RetriedRuns = component('RetriedRuns', {
  retried: z.array(
    component('RetriedRun', {
      runId: z.string().describe('The new run.'),
      retryOf: z.string().describe('The run it repeats.'),
    }),
  ),
  refused: z
    .array(
      component('RefusedRun', {
        runId: z.string().describe('The run that was left as it was.'),
        code: z.string().describe('Why, as the code of an error.'),
        message: z.string(),
        details: z.array(ErrorReason).optional().describe('Each reason, as in the details of an error.'),
      }),
    )
    .describe('In the order of the request.'),
})
export const Failures = component('Failures', {
  workflowId: z.string(),
  causes: z
    .array(
      component('FailureCause', {
        key: z.string().describe('Names the cause; it changes when its parts do.'),
        version: z.int(),
        stepId: z.string().nullable(),
        code: z.string(),
        message: z.string().describe('Of the newest of the runs. Messages that differ only in values are one cause.'),
        count: z.int(),
        firstTime: time('When the oldest of the runs started.'),
        lastTime: time('When the newest of the runs started.'),
        runs: z.array(z.string()).describe('The newest five.'),
      }),
    )
    .describe('The most frequent first, at most 20.'),
  of: z.int().describe('The number of failed runs that were grouped.'),
  newestOf: z.int().describe('At most this many of the newest are.'),
})
export const StoppedRun = component('StoppedRun', {
  success: z.literal(true),
  runId: z.string(),
  workflowId: z.string(),
  status: RunStatus,
  outcome: Outcome,
  reason: z.string().nullable(),
})
