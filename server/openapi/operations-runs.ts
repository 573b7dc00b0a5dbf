import { z } from 'zod'
import type { JsonValue } from '../definition/json'
import { ListRuns } from '../runs/list'
import { ResumeRun, StopRun } from '../runs/schema'
import * as example from './examples'
import * as answers from './responses'
import { StartBody } from './schemas'
import type { Operation } from './types'

const StartQuery = z.object({ version: z.string().max(20).optional() })

const START_ERRORS = ['WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED', 'VALIDATION_FAILED', 'FILE_TOO_LARGE'] as const

const startBody = {
  schema: StartBody,
  required: false,
  form: true,
  examples: {
    fields: { summary: 'Fields at the top level', value: { name: 'Ada' } },
    data: { summary: 'Fields in `data`', value: { data: { name: 'Ada' } } },
  },
} as const

const run = (summary: string, value: JsonValue) => ({ summary, value })

export const RUN_OPERATIONS: Operation[] = [
  {
    id: 'startWorkflow',
    method: 'POST',
    path: '/api/workflow/start/{workflowId}',
    tag: 'Runs',
    summary: 'Start a run and wait for its end',
    description:
      'The published version runs; when none was ever published, the latest draft does. Waits up to 50 seconds, or as `Prefer` says. A caller that hangs up does not stop the run. Fields that the workflow does not declare are ignored.',
    role: 'operator',
    query: StartQuery,
    headers: ['Idempotency-Key', 'Prefer'],
    body: startBody,
    answers: {
      200: {
        description: 'The run has ended. It may have failed: see `status` and `error`.',
        schema: answers.Run,
        headers: ['Location', 'X-Workflow-Version'],
        examples: {
          completed: run('The run completed', example.completedRun),
          failed: run('The run failed', example.failedRun),
        },
      },
      202: {
        description: 'The run has paused, or still runs: follow it with its `runId`.',
        schema: answers.Run,
        headers: ['Location', 'X-Workflow-Version'],
        examples: { paused: run('The run waits for a person', example.pausedRun) },
      },
    },
    errors: START_ERRORS,
  },
  {
    id: 'startWorkflowAsync',
    method: 'POST',
    path: '/api/workflow/start-async/{workflowId}',
    tag: 'Runs',
    summary: 'Start a run',
    description:
      'As the sync start, but answers at once. The run is stored when the answer comes; nothing that happens later loses it. Meant for workflows that wait for people.',
    role: 'operator',
    query: StartQuery,
    headers: ['Idempotency-Key'],
    body: startBody,
    answers: {
      200: {
        description: 'The run has been started.',
        schema: answers.StartedRun,
        headers: ['Location', 'X-Workflow-Version'],
        examples: { started: run('Started', { runId: example.RUN_ID }) },
      },
    },
    errors: START_ERRORS,
  },
  {
    id: 'getRunStatus',
    method: 'GET',
    path: '/api/workflow/status/{runId}',
    tag: 'Runs',
    summary: 'Get a run',
    description: 'The run with its data, its history and what it waits for, all as of one moment.',
    role: 'viewer',
    answers: {
      200: {
        description: 'The run.',
        schema: answers.Run,
        examples: {
          paused: run('Waits for a person', example.pausedRun),
          completed: run('Completed', example.completedRun),
          failed: run('Failed', example.failedRun),
        },
      },
    },
    errors: ['RUN_NOT_FOUND'],
  },
  {
    id: 'resumeRun',
    method: 'POST',
    path: '/api/workflow/resume/{runId}',
    tag: 'Runs',
    summary: 'Answer what a run waits for',
    description:
      'The answer is stored before this returns. Of several at once exactly one gets 200. What does not fit the pause is 400, and the run stays paused.',
    role: 'operator',
    headers: ['Idempotency-Key'],
    body: {
      schema: ResumeRun,
      required: true,
      examples: {
        inputs: {
          summary: 'Give the fields that were asked for',
          value: { type: 'collect_inputs', data: { item: 'Chair', amount: 12.5 } },
        },
        action: {
          summary: 'Choose an action',
          value: { type: 'request_user_action', actionId: 'approve', actionValue: 'approved' },
        },
      },
    },
    answers: {
      200: {
        description: 'The run goes on; it stays `paused` while other pauses are open.',
        schema: answers.ResumedRun,
        examples: { running: run('Goes on', { success: true, runId: example.RUN_ID, status: 'running' }) },
      },
    },
    errors: ['RUN_NOT_FOUND', 'RUN_NOT_PAUSED'],
  },
  {
    id: 'cancelRun',
    method: 'POST',
    path: '/api/workflow/management/cancel',
    tag: 'Runs',
    summary: 'Cancel a run',
    description:
      'Graceful: a step at work may end within 10 seconds, then the `onCancel` path of the workflow runs, then the run ends with the outcome `cancelled`. Asking again changes nothing.',
    role: 'operator',
    headers: ['Idempotency-Key'],
    body: {
      schema: StopRun,
      required: true,
      examples: {
        reason: { summary: 'With a reason', value: { runId: example.RUN_ID, reason: 'The order was withdrawn.' } },
      },
    },
    answers: {
      200: {
        description: 'The run as it stands. `outcome` is null while a step or the cleanup is still at work.',
        schema: answers.StoppedRun,
        examples: { cancelled: run('Cancelled', example.stopped) },
      },
    },
    errors: ['RUN_NOT_FOUND', 'RUN_ALREADY_ENDED'],
  },
  {
    id: 'terminateRun',
    method: 'POST',
    path: '/api/workflow/management/terminate',
    tag: 'Runs',
    summary: 'Terminate a run',
    description: 'Immediate and without cleanup. What the steps still do is aborted, and its results count no more.',
    role: 'operator',
    headers: ['Idempotency-Key'],
    body: {
      schema: StopRun,
      required: true,
      examples: { run: { summary: 'A run', value: { runId: example.RUN_ID } } },
    },
    answers: {
      200: {
        description: 'The run has ended.',
        schema: answers.StoppedRun,
        examples: { terminated: run('Terminated', { ...example.stopped, outcome: 'terminated', reason: null }) },
      },
    },
    errors: ['RUN_NOT_FOUND', 'RUN_ALREADY_ENDED'],
  },
  {
    id: 'listRuns',
    method: 'GET',
    path: '/api/workflow/runs',
    tag: 'Runs',
    summary: 'List runs',
    description: 'Newest first, without data and history. Runs that start meanwhile neither shift nor repeat any.',
    role: 'viewer',
    query: ListRuns,
    answers: {
      200: {
        description: 'A page of runs.',
        schema: answers.RunList,
        examples: { page: run('A page', { runs: [example.runItem], nextCursor: example.cursor }) },
      },
    },
    errors: [],
  },
  {
    id: 'streamRunEvents',
    method: 'GET',
    path: '/api/workflow/events/{runId}',
    tag: 'Runs',
    summary: 'Follow a run',
    description:
      'Server-sent events: first the present state, then every change as it happens. `run` and `step` carry what changed, `end` is the last. A client that reconnects with the last `id` misses nothing and sees nothing twice.',
    role: 'viewer',
    headers: ['Last-Event-ID'],
    answers: {
      200: {
        description: 'The stream. It closes after the end of the run.',
        contentType: 'text/event-stream',
        schema: z.unknown().describe('Events `run`, `step` and `end`; the `data` of each is a JSON object.'),
        examples: { events: { summary: 'The last two events', value: example.events } },
      },
      204: { description: 'The client has seen the end already, and need not come back.' },
    },
    errors: ['RUN_NOT_FOUND'],
  },
]
