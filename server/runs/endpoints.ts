import { z } from 'zod'
import { openStream, streamAnswer } from '../http/sse'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example as run } from '../openapi/example'
import { parseInput } from '../parse'
import * as answers from './answers'
import { listCalls, ReadCalls } from './calls'
import { cancelRun } from './cancel'
import { FollowRun, openRunEvents } from './events'
import * as example from './examples'
import { ExportRuns, exportRuns } from './export'
import { ReadHistory, readHistory } from './history'
import { ListRuns, listRuns } from './list'
import { MOVE_ENDPOINTS } from './moves/endpoints'
import { REPEAT_ENDPOINTS } from './repeat-endpoints'
import { resumeRun } from './resume'
import { ResumeRun, StopRun } from './schema'
import { START_ENDPOINTS } from './start-endpoints'
import { getRunStatus } from './status'
import { terminateRun } from './terminate'
import { ReadValue, readValue } from './whole-value'

const parameters = { runId: { description: 'The run.', example: example.RUN_ID } }

const EXPORT_HEADERS = { 'content-type': 'application/x-ndjson; charset=utf-8', 'x-accel-buffering': 'no' }

export const RUN_ENDPOINTS = {
  ...START_ENDPOINTS,
  getRunStatus: endpoint({
    method: 'GET',
    path: '/api/workflow/status/{runId}',
    parameters,
    tag: 'Runs',
    summary: 'Get a run',
    description: 'A consistent snapshot of the run: its data, its history and what it is waiting for.',
    permission: 'run:read',
    answers: {
      200: answer('The run.', answers.Run, {
        paused: run('Waiting for a person', example.pausedRun),
        completed: run('Completed', example.completedRun),
        failed: run('Failed', example.failedRun),
      }),
    },
    errors: ['RUN_NOT_FOUND'],
    checksKey: true,
    run: async ({ ctx, params }) => ({ body: await getRunStatus(ctx, { runId: params.runId }) }),
  }),
  getRunHistory: endpoint({
    method: 'GET',
    path: '/api/workflow/history/{runId}',
    parameters,
    tag: 'Runs',
    summary: 'Get the records of a run in pages',
    description:
      'For runs with more records than the status contains. If a page would be larger than 16 MiB, values are cut as in the status.',
    permission: 'run:read',
    query: ReadHistory,
    answers: {
      200: answer('A page of records, oldest first.', answers.History, {
        page: run('A page', {
          runId: example.RUN_ID,
          historyTotal: 1,
          stepExecutionHistory: example.completedRun.stepExecutionHistory.slice(0, 1),
          next: null,
        }),
      }),
    },
    errors: ['RUN_NOT_FOUND'],
    run: async ({ ctx, params, query }) => ({ body: await readHistory(ctx, params.runId, query) }),
  }),
  listCalls: endpoint({
    method: 'GET',
    path: '/api/workflow/calls/{runId}',
    parameters,
    tag: 'Runs',
    summary: 'List the calls of agents in a run',
    description:
      'What the agents of `call-agent` steps did: each answer of a model and each call of a tool, once it has ended, also of turns that are under way or have failed. No call is in the list twice, however many attempts the step took. A page of more than 4 MiB has fewer calls than `limit`, but at least one.',
    permission: 'run:read',
    query: ReadCalls,
    answers: {
      200: answer('A page of calls.', answers.CallList, { page: run('A page', example.callList) }),
    },
    errors: ['RUN_NOT_FOUND'],
    run: async ({ ctx, params, query }) => ({ body: await listCalls(ctx, params.runId, query) }),
  }),
  getRunValue: endpoint({
    method: 'GET',
    path: '/api/workflow/value/{runId}',
    parameters,
    tag: 'Runs',
    summary: 'Get a value of a run',
    description:
      'The full value where another response has cut it; its `href` points here. `data`, `input` and `result` are the values of the run, `input` and `output` with `record` those of a step.',
    permission: 'run:read',
    query: ReadValue,
    answers: {
      200: answer('The value.', answers.WholeValue, { value: run('All data of a run', { value: { name: 'Ada' } }) }),
    },
    errors: ['RUN_NOT_FOUND'],
    run: async ({ ctx, params, query }) => ({ body: await readValue(ctx, params.runId, query) }),
  }),
  resumeRun: endpoint({
    method: 'POST',
    path: '/api/workflow/resume/{runId}',
    parameters,
    tag: 'Runs',
    summary: 'Answer a pause',
    description:
      'The answer is stored before this call returns. If several arrive at the same time, exactly one gets 200. An answer that does not match the pause, its fields or those of the chosen action gets 400, and the run stays paused. Where a step needs several votes, this casts one: the run stays `paused` until they decide.',
    permission: 'run:resume',
    headers: ['Idempotency-Key'],
    body: {
      schema: ResumeRun,
      required: true,
      examples: {
        inputs: {
          summary: 'Fill in the fields',
          value: { type: 'collect_inputs', data: { item: 'Chair', amount: 12.5 } },
        },
        action: {
          summary: 'Choose an action',
          value: { type: 'request_user_action', actionId: 'approve', actionValue: 'approved' },
        },
        fields: {
          summary: 'Choose an action that has fields, with a remark',
          value: {
            type: 'request_user_action',
            actionId: 'reject',
            data: { reason: 'Too expensive' },
            remark: 'Ask again next quarter.',
          },
        },
        vote: {
          summary: 'Vote for another person, with an API key',
          value: { type: 'request_user_action', actionId: 'approve', answeredBy: 'ada@example.com' },
        },
      },
    },
    answers: {
      200: answer(
        'The run continues; it stays `paused` while other pauses are open, or more votes are needed.',
        answers.ResumedRun,
        { running: run('The run continues', { success: true, runId: example.RUN_ID, status: 'running' }) },
      ),
    },
    errors: ['RUN_NOT_FOUND', 'RUN_NOT_PAUSED', 'NOT_ASSIGNED', 'SELF_APPROVAL', 'ALREADY_VOTED'],
    checksKey: true,
    run: async ({ ctx, params, body }) => ({ body: await resumeRun(ctx, { runId: params.runId, body }) }),
  }),
  cancelRun: endpoint({
    method: 'POST',
    path: '/api/workflow/management/cancel',
    tag: 'Runs',
    summary: 'Cancel a run',
    description:
      'Graceful: a running step may finish within 10 seconds, then the workflow’s `onCancel` path runs, then the run ends with the outcome `cancelled`. Asking again changes nothing.',
    permission: 'run:cancel',
    headers: ['Idempotency-Key'],
    body: {
      schema: StopRun,
      required: true,
      examples: {
        reason: { summary: 'With a reason', value: { runId: example.RUN_ID, reason: 'The order was withdrawn.' } },
      },
    },
    answers: {
      200: answer(
        'The current run. `outcome` is null while a step or the cleanup path is still running.',
        answers.StoppedRun,
        { cancelled: run('Cancelled', example.stopped) },
      ),
    },
    errors: ['RUN_NOT_FOUND', 'RUN_ALREADY_ENDED'],
    run: async ({ ctx, body }) => ({ body: await cancelRun(ctx, body) }),
  }),
  terminateRun: endpoint({
    method: 'POST',
    path: '/api/workflow/management/terminate',
    tag: 'Runs',
    summary: 'Terminate a run',
    description: 'Immediate, without cleanup. Running steps are aborted and their results dropped.',
    permission: 'run:terminate',
    headers: ['Idempotency-Key'],
    body: {
      schema: StopRun,
      required: true,
      examples: { run: { summary: 'A run', value: { runId: example.RUN_ID } } },
    },
    answers: {
      200: answer('The run has ended.', answers.StoppedRun, {
        terminated: run('Terminated', { ...example.stopped, outcome: 'terminated', reason: null }),
      }),
    },
    errors: ['RUN_NOT_FOUND', 'RUN_ALREADY_ENDED'],
    run: async ({ ctx, body }) => ({ body: await terminateRun(ctx, body) }),
  }),
  ...MOVE_ENDPOINTS,
  listRuns: endpoint({
    method: 'GET',
    path: '/api/workflow/runs',
    tag: 'Runs',
    summary: 'List runs',
    description:
      'Newest first, without data and history. Runs that start while you page through neither shift nor repeat any.',
    permission: 'run:read',
    query: ListRuns,
    answers: {
      200: answer('A page of runs.', answers.RunList, {
        page: run('A page', { runs: [example.runItem], nextCursor: example.cursor }),
      }),
    },
    errors: [],
    run: async ({ ctx, query }) => ({ body: await listRuns(ctx, query) }),
  }),
  exportRuns: endpoint({
    method: 'GET',
    path: '/api/workflow/runs/export',
    tag: 'Runs',
    summary: 'Export runs',
    description:
      'Whole runs, one a line, in the order in which they started; sent while they are read. The last line is `{ "nextCursor" }`: its cursor continues, and null says that there are no more. A response without it was broken off; repeat it from the last cursor. A response ends after `limit` runs, after 30 seconds, or earlier if the database is busy. No run is in an export twice.',
    permission: 'run:read',
    query: ExportRuns,
    answers: {
      200: {
        description: 'Runs, and the cursor.',
        contentType: 'application/x-ndjson',
        schema: z
          .unknown()
          .describe('Lines of JSON: each is a run as its status shows it, and the last has the cursor.'),
        examples: { lines: { summary: 'The last two lines', value: example.exported } },
      },
    },
    errors: [],
    run: async ({ ctx, query }) => ({ headers: EXPORT_HEADERS, body: await exportRuns(ctx, query) }),
  }),
  streamRunEvents: endpoint({
    method: 'GET',
    path: '/api/workflow/events/{runId}',
    parameters,
    tag: 'Runs',
    summary: 'Follow a run',
    description:
      'Server-sent events: first the current state, then every change as it happens. `run` and `step` contain what changed; `end` comes last. A client that reconnects with the last `id` misses nothing and sees nothing twice.',
    permission: 'run:read',
    query: FollowRun,
    headers: ['Last-Event-ID'],
    answers: {
      200: {
        description: 'The stream. It closes after the end of the run.',
        stream: example.events,
        event: answers.RunEvent,
      },
      204: { description: 'The client has seen the end; do not reconnect.' },
    },
    errors: ['RUN_NOT_FOUND', 'TOO_MANY_STREAMS'],
    run: async ({ ctx, params, query, request }) => {
      const { calls } = parseInput(FollowRun, query)
      const from = { runId: params.runId, lastEventId: request.headers.get('last-event-id'), calls }
      return streamAnswer(await openStream(ctx.tenantId, request.signal, () => openRunEvents(ctx, from)))
    },
  }),
  ...REPEAT_ENDPOINTS,
}
