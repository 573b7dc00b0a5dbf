import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { WORKFLOW_ID } from '../workflows/examples'
import * as answers from './answers'
import { readCauses } from './causes'
import { failures, RUN_ID, repeated, retriedRuns } from './examples'
import { RerunBody, rerunRun } from './rerun'
import { RetryBody, retryRun } from './retry'
import { RetryRuns, retryRuns } from './retry-many'

const parameters = { runId: { description: 'The run.', example: RUN_ID } }

const newRun = (body: { runId: string }) => ({ headers: { location: `/api/workflow/status/${body.runId}` }, body })

/** Null fields of a body count as absent, and another value than an object as an empty body. */
function withoutNulls(body: unknown): object {
  return isPlainObject(body) ? Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) : {}
}

const isPlainObject = (body: unknown): body is object =>
  typeof body === 'object' && body !== null && !Array.isArray(body)

/** Endpoints that start a new run from an old one. */
export const REPEAT_ENDPOINTS = {
  retryRun: endpoint({
    method: 'POST',
    path: '/api/workflow/retry/{runId}',
    parameters,
    tag: 'Runs',
    summary: 'Retry a failed run',
    description:
      'Creates a run that continues at the failed step, or at the step whose error exit led to a `fail-flow`, on the same version and with the output of the completed steps. Completed steps do not run again; the old run does not change. With `version`, it continues on another published version, if its data fits there, and it passes over no question to people (unless an editor asks) and repeats no completed call (unless `repeatCalls` is true); otherwise 409 `VERSION_MISFIT` with the reasons. A run that answers a message to an agent is retried once, and the new run answers in its place.',
    permission: 'run:retry',
    headers: ['Idempotency-Key'],
    // Bodies were ignored until it took one, so any are taken.
    openBody: true,
    body: {
      schema: RetryBody,
      required: false,
      examples: {
        same: { summary: 'On the same version', value: {} },
        published: { summary: 'On the published version', value: { version: 'published' } },
        from: { summary: 'On another version, from a step of it', value: { version: 5, fromStepId: 'normalize' } },
      },
    },
    answers: {
      200: answer('The new run.', answers.RepeatedRun, { run: { summary: 'The new run', value: repeated } }, [
        'Location',
      ]),
    },
    errors: ['RUN_NOT_FOUND', 'WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED', 'VERSION_MISFIT'],
    limit: 'starts',
    run: async ({ ctx, params, body }) =>
      newRun(await retryRun(ctx, { runId: params.runId, body: withoutNulls(body) })),
  }),
  listFailures: endpoint({
    method: 'GET',
    path: '/api/workflows/{id}/failures',
    parameters: { id: { description: 'The workflow.', example: WORKFLOW_ID } },
    tag: 'Runs',
    summary: 'Group the failed runs of a workflow by cause',
    description:
      'The newest 5,000 failed runs that nobody has repeated, without tests and runs that a step started, grouped by version, step, code and message; messages do not count in a version with sensitive fields.',
    permission: 'run:read',
    answers: {
      200: answer('The causes.', answers.Failures, { causes: { summary: 'One cause', value: failures } }),
    },
    errors: ['WORKFLOW_NOT_FOUND'],
    run: async ({ ctx, params }) => {
      const { ofRun: _ofRun, ...body } = await readCauses(ctx, { workflowId: params.id })
      return { body }
    },
  }),
  retryRuns: endpoint({
    method: 'POST',
    path: '/api/workflow/management/retry',
    tag: 'Runs',
    summary: 'Retry many failed runs of a workflow',
    description:
      'Retries up to 100 runs, each as by itself and in its own transaction, with `version` on another version. Runs that were repeated before, or that a step of another run started, are refused, so the call may be sent again. The answer names what became of each.',
    permission: 'run:retry',
    headers: ['Idempotency-Key'],
    body: {
      schema: RetryRuns,
      required: true,
      examples: {
        version: {
          summary: 'On the published version',
          value: { workflowId: WORKFLOW_ID, runIds: [RUN_ID], version: 'published' },
        },
      },
    },
    answers: {
      200: answer('The new runs, and those that were refused.', answers.RetriedRuns, {
        some: { summary: 'One retried, one refused', value: retriedRuns },
      }),
    },
    errors: ['WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED'],
    limit: 'starts',
    run: async ({ ctx, body }) => ({ body: await retryRuns(ctx, body) }),
  }),
  rerunRun: endpoint({
    method: 'POST',
    path: '/api/workflow/rerun/{runId}',
    parameters,
    tag: 'Runs',
    summary: 'Rerun from the first step, or from any',
    description:
      'Creates a run on the same version, with the same input or with new input. With `version`, it is on another published version, if its input or data fits there; with `fromStepId`, it must not pass over a question to people (unless an editor asks), nor repeat a completed call (unless `repeatCalls` is true). Otherwise 409 `VERSION_MISFIT` with the reasons. With `fromStepId`, it continues at a step that the old run reached, with the data and outputs from before the latest visit of that step. `data` then replaces fields of the run data; this needs the role editor, and a signing secret without limits. A run that answers a message to an agent cannot be rerun: send the message again.',
    permission: 'run:retry',
    headers: ['Idempotency-Key'],
    body: {
      schema: RerunBody,
      required: false,
      examples: {
        same: { summary: 'With the same input', value: {} },
        other: { summary: 'With other input', value: { data: { name: 'Grace' } } },
        version: { summary: 'On the published version', value: { version: 'published' } },
        from: { summary: 'From a step, with a field changed', value: { fromStepId: 'charge', data: { amount: 20 } } },
      },
    },
    answers: {
      200: answer('The new run.', answers.RepeatedRun, { run: { summary: 'The new run', value: repeated } }, [
        'Location',
      ]),
    },
    errors: ['RUN_NOT_FOUND', 'WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED', 'VERSION_MISFIT'],
    limit: 'starts',
    run: async ({ ctx, params, body }) => newRun(await rerunRun(ctx, { runId: params.runId, body })),
  }),
}
