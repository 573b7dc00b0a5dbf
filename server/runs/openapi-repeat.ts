import type { Operation } from '../openapi/types'
import * as answers from './openapi-answers'
import { RUN_ID, repeated } from './openapi-examples'
import { RerunBody } from './rerun'

const parameters = { runId: { description: 'The run.', example: RUN_ID } }

/** A new run in place of an old one. */
export const REPEAT_OPERATIONS: Operation[] = [
  {
    id: 'retryRun',
    method: 'POST',
    path: '/api/workflow/retry/{runId}',
    parameters,
    tag: 'Runs',
    summary: 'Retry a failed run',
    description:
      'Makes a new run that goes on at the failed step, on the same version and with what the completed steps gave. Steps that are done are not done again; the old run stays as it is.',
    role: 'operator',
    headers: ['Idempotency-Key'],
    answers: {
      200: {
        description: 'The new run.',
        schema: answers.RepeatedRun,
        headers: ['Location'],
        examples: { run: { summary: 'The new run', value: repeated } },
      },
    },
    errors: ['RUN_NOT_FOUND', 'WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED'],
  },
  {
    id: 'rerunRun',
    method: 'POST',
    path: '/api/workflow/rerun/{runId}',
    parameters,
    tag: 'Runs',
    summary: 'Run again from the beginning',
    description: 'Makes a new run on the same version, with the same input or with another one.',
    role: 'operator',
    headers: ['Idempotency-Key'],
    body: {
      schema: RerunBody,
      required: false,
      examples: {
        same: { summary: 'With the same input', value: {} },
        other: { summary: 'With other input', value: { data: { name: 'Grace' } } },
      },
    },
    answers: {
      200: {
        description: 'The new run.',
        schema: answers.RepeatedRun,
        headers: ['Location'],
        examples: { run: { summary: 'The new run', value: repeated } },
      },
    },
    errors: ['RUN_NOT_FOUND', 'WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED'],
  },
]
