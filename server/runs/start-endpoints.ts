import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { components } from '../definition/component'
import { FILE_PART } from '../http/multipart-input'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example as run } from '../openapi/example'
import type { Schema } from '../openapi/types'
import { WORKFLOW_PARAMETER } from '../workflows/endpoints'
import * as answers from './answers'
import * as example from './examples'
import { startRun } from './start'
import { startAndWait } from './start-and-wait'

/** The START fields, which differ by workflow. */
export const StartBody = z
  .record(z.string(), AnyJson)
  .describe(
    'The START fields of the workflow at the top level, or in an object `data`, which takes precedence field by field; if `data` is itself a START field, it is just that field. To list the fields: `GET /api/workflow/metadata/input/{workflowId}`.',
  )
  .register(components, { id: 'StartBody' })

/** The form that may be sent instead of JSON. */
const START_FORM: Schema = {
  type: 'object',
  description:
    'Files and the START fields as text. Numbers, `true`, `false` and JSON are parsed by the type of the field. A part may be a file with the name of a field for files: at most 20 files, with 3,932,160 bytes together.',
  properties: {
    [FILE_PART]: {
      description: 'The file, at most 3,932,160 bytes. Its id is added to the data as `fileId`.',
      type: 'string',
      format: 'binary',
    },
  },
  additionalProperties: { type: 'string' },
}

const StartQuery = z.object({
  version: z
    .string()
    .max(20)
    .optional()
    .describe('`published`, `latest` or a number. The published version by default.'),
})

const START_ERRORS = ['WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED', 'VALIDATION_FAILED', 'FILE_TOO_LARGE'] as const

const startBody = {
  schema: StartBody,
  required: false,
  form: START_FORM,
  examples: {
    fields: { summary: 'Fields at the top level', value: { name: 'Ada' } },
    data: { summary: 'Fields in `data`', value: { data: { name: 'Ada' } } },
  },
} as const

export const START_ENDPOINTS = {
  startWorkflow: endpoint({
    method: 'POST',
    path: '/api/workflow/start/{workflowId}',
    parameters: WORKFLOW_PARAMETER,
    tag: 'Runs',
    summary: 'Start a run and wait for its end',
    description:
      'Runs the published version or, if none was ever published, the latest draft. Waits up to 50 seconds, or as long as `Prefer` says. Disconnecting does not stop the run. Undeclared fields are ignored.',
    permission: 'run:start',
    query: StartQuery,
    headers: ['Idempotency-Key', 'Prefer'],
    body: startBody,
    answers: {
      200: answer(
        'The run has ended. It may have failed: see `status` and `error`.',
        answers.Run,
        {
          completed: run('The run completed', example.completedRun),
          failed: run('The run failed', example.failedRun),
        },
        ['Location', 'X-Workflow-Version'],
      ),
      202: answer(
        'The run is paused or still running: follow it with its `runId`.',
        answers.Run,
        { paused: run('The run is waiting for a person', example.pausedRun) },
        ['Location', 'X-Workflow-Version'],
      ),
    },
    errors: START_ERRORS,
    checksKey: true,
    limit: 'starts',
    onlyWaits: true,
    run: async ({ ctx, params, query, body, request, signal }) => {
      const { run, workflowVersion } = await startAndWait(ctx, {
        workflowId: params.workflowId,
        body,
        version: query.version,
        prefer: request.headers.get('prefer'),
        signal,
      })
      return {
        status: run.status === 'completed' || run.status === 'failed' ? 200 : 202,
        headers: { location: `/api/workflow/status/${run.runId}`, 'x-workflow-version': String(workflowVersion) },
        body: run,
      }
    },
  }),
  startWorkflowAsync: endpoint({
    method: 'POST',
    path: '/api/workflow/start-async/{workflowId}',
    parameters: WORKFLOW_PARAMETER,
    tag: 'Runs',
    summary: 'Start a run',
    description:
      'Like the sync start, but returns at once. By then the run is stored and cannot be lost. Use it for workflows that wait for people.',
    permission: 'run:start',
    query: StartQuery,
    headers: ['Idempotency-Key'],
    body: startBody,
    answers: {
      200: answer(
        'The run has been started.',
        answers.StartedRun,
        { started: run('Started', { runId: example.RUN_ID }) },
        ['Location', 'X-Workflow-Version'],
      ),
    },
    errors: START_ERRORS,
    checksKey: true,
    limit: 'starts',
    run: async ({ ctx, params, query, body }) => {
      const { runId, workflowVersion } = await startRun(ctx, {
        workflowId: params.workflowId,
        body,
        version: query.version,
      })
      return {
        headers: { location: `/api/workflow/status/${runId}`, 'x-workflow-version': String(workflowVersion) },
        body: { runId },
      }
    },
  }),
}
