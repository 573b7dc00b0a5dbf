import { z } from 'zod'
import { component } from '../../definition/component'
import { answer } from '../../openapi/answer'
import { endpoint } from '../../openapi/endpoint'
import { example } from '../../openapi/example'
import { time } from '../../openapi/fields'
import { WORKFLOW_ID } from '../../workflows/examples'
import { RUN_ID } from '../examples'
import { QUESTION_PARTS } from './changes'
import { moveRuns } from './move'
import { listMovable, OpenRunsQuery } from './open-runs'
import { ADVICE, MOVE_REASONS } from './reasons'
import { MoveRuns } from './schema'
import { MOVE_VERDICTS } from './verdict'

const BATCH = 'mov_01KAHV6N3C0000G8VJ4M2ZQ5TX'

const MoveReason = component('MoveReason', {
  code: z.enum(MOVE_REASONS),
  message: z.string(),
  advice: z.string().describe('What to do instead.'),
  stepId: z.string().optional().describe('The step that it is about.'),
  name: z.string().optional().describe('Of `DATA_MISFIT`: the name that does not fit, never its value.'),
  claimed: z.string().optional().describe('The type that the version claims.'),
  found: z.string().optional().describe('The type that the run has.'),
})

const verdict = {
  verdict: z
    .enum(MOVE_VERDICTS)
    .describe(
      '`safe`: it continues as if it had this version. `asks_again`: a task asks something else. `not_now`: try again. `not_possible`: see `reasons`.',
    ),
  reasons: z.array(MoveReason),
  changes: z
    .array(
      component('QuestionChange', {
        stepId: z.string(),
        what: z.array(z.enum(QUESTION_PARTS)),
      }),
    )
    .describe('What its tasks ask differently.'),
}

const OpenRunsPage = component('MovableRuns', {
  toVersion: z.int().min(1),
  runs: z.array(
    component('MovableRun', {
      runId: z.string(),
      businessKey: z.string().nullable(),
      workflowVersion: z.int().min(1),
      stepId: z.string().nullable().describe('The step that it is at.'),
      status: z.enum(['running', 'paused']),
      startTime: time('When it was started.'),
      updatedAt: time('When it last came further.'),
      ...verdict,
    }),
  ),
  next: z.string().nullable().describe('Send it as `after` for the next page; null on the last one.'),
})

const MovesMade = component('MovesMade', {
  batch: z.string().describe('Names these moves.'),
  moved: z.array(component('MovedRun', { runId: z.string(), verdict: z.enum(['safe', 'asks_again']) })),
  refused: z.array(
    component('RefusedMove', {
      runId: z.string(),
      code: z.enum(['MOVE_REFUSED', 'RUN_NOT_FOUND', 'RUN_ALREADY_ENDED']),
      verdict: verdict.verdict.optional(),
      reasons: verdict.reasons.describe('Empty if the run may be moved with `asksAgain`.'),
      changes: verdict.changes.optional(),
    }),
  ),
})

const busy = {
  code: 'BUSY',
  stepId: 'charge',
  message: 'An attempt of charge is under way, or will be repeated.',
  advice: ADVICE.BUSY,
}

export const MOVE_ENDPOINTS = {
  listMovableRuns: endpoint({
    method: 'GET',
    path: '/api/workflows/{id}/open-runs',
    parameters: { id: { description: 'The workflow.', example: WORKFLOW_ID } },
    tag: 'Runs',
    summary: 'Find open runs to move',
    description:
      'The open runs on other versions than `to`, oldest first and at most 100 a page, fewer if it takes long to judge them, each with whether it can continue on that version at this moment. It does not say what a run contains. Not for tokens of limited secrets.',
    permission: 'run:read',
    query: OpenRunsQuery,
    answers: {
      200: answer('A page of runs.', OpenRunsPage, {
        page: example('A page', {
          toVersion: 3,
          runs: [
            {
              runId: RUN_ID,
              businessKey: null,
              workflowVersion: 2,
              stepId: 'order',
              status: 'paused',
              startTime: '2026-11-20T09:30:00.000Z',
              updatedAt: '2026-11-20T09:30:00.012Z',
              verdict: 'asks_again',
              reasons: [],
              changes: [{ stepId: 'order', what: ['fields', 'assignees'] }],
            },
          ],
          next: null,
        }),
      }),
    },
    errors: ['WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED'],
    run: async ({ ctx, params, query }) => ({ body: await listMovable(ctx, { id: params.id, query }) }),
  }),
  moveRuns: endpoint({
    method: 'POST',
    path: '/api/workflow/management/move',
    tag: 'Runs',
    summary: 'Move open runs to another version',
    description:
      'Each run continues on the version from where it waits, if everything that it has fits there. Its steps so far stay as they are. A repeated call does no harm: a run that has the version already counts as moved. A step under way is never moved; try again once it has ended.',
    permission: 'run:move',
    body: {
      schema: MoveRuns,
      required: true,
      examples: {
        runs: {
          summary: 'A run, whose task is asked again',
          value: {
            workflowId: WORKFLOW_ID,
            toVersion: 1,
            runIds: [RUN_ID],
            asksAgain: true,
            reason: 'The form asks for the cost center now.',
          },
        },
      },
    },
    answers: {
      200: answer('What became of each run.', MovesMade, {
        moved: example('One moved, one at work', {
          batch: BATCH,
          moved: [{ runId: RUN_ID, verdict: 'asks_again' }],
          refused: [
            {
              runId: 'run_01KAHV6N3C0000G8VJ4M2ZQ5TY',
              code: 'MOVE_REFUSED',
              verdict: 'not_now',
              reasons: [busy],
              changes: [],
            },
          ],
        }),
      }),
    },
    errors: ['WORKFLOW_NOT_FOUND', 'WORKFLOW_ARCHIVED'],
    run: async ({ ctx, body }) => ({ body: await moveRuns(ctx, body) }),
  }),
}
