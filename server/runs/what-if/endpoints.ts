import { answer } from '../../openapi/answer'
import { endpoint } from '../../openapi/endpoint'
import { example } from '../../openapi/example'
import { WORKFLOW_ID } from '../../workflows/examples'
import { RUN_ID } from '../examples'
import * as answers from './answers'
import { WhatIf } from './schema'
import { whatIf } from './what-if'

const at = (stepId: string) => ({ branch: 'main', stepId, visit: 1 })
const declined = {
  runId: RUN_ID,
  workflowId: WORKFLOW_ID,
  runVersion: 2,
  version: 2,
  real: {
    visits: [
      { place: at('approve'), exit: 'yes', state: 'as it was' },
      { place: at('pay'), exit: null, state: 'as it was', asked: { amount: 120 }, came: { output: { id: 'ch_1' } } },
    ],
    more: 0,
    end: { result: { paid: true } },
  },
  other: {
    visits: [
      { place: at('approve'), exit: 'no', state: 'changed' },
      { place: at('refuse'), exit: null, state: 'new' },
    ],
    more: 0,
    end: { result: { paid: false } },
  },
  verdict: {
    is: 'way',
    at: at('approve'),
    was: { exit: 'yes', next: 'pay' },
    now: { exit: 'no', next: 'refuse' },
    calls: { new: [], gone: ['pay'], changed: [] },
    assumed: [],
  },
  unknown: [],
}

export const WHAT_IF_ENDPOINTS = {
  whatIf: endpoint({
    method: 'POST',
    path: '/api/workflow/what-if/{runId}',
    parameters: { runId: { description: 'The run. It may be open.', example: RUN_ID } },
    tag: 'Runs',
    summary: 'Try changes on a run',
    description:
      'How would the run go with another answer, another result of a call, other values, or on another version? Computes it anew from what the run recorded, and answers with both ways. Nothing is executed and nothing is stored; only scripts that compute run again where their code or arguments differ. What the run did not record is unknown: where that would decide, the way ends and `end.needs` says which value it needs, which `changes` can give. Values that the caller may not see decide nothing either.',
    permission: 'workflow:simulate',
    body: {
      schema: WhatIf,
      required: false,
      examples: {
        answer: example('Another answer', {
          changes: { came: [{ at: { stepId: 'approve' }, came: { answer: { actionId: 'no' } } }] },
        }),
        call: example('A call that fails, on the draft', {
          version: 'latest',
          changes: {
            came: [{ at: { stepId: 'pay' }, came: { failed: { code: 'HTTP_ERROR', message: 'Answered 503' } } }],
          },
        }),
      },
    },
    answers: {
      200: answer('Both ways.', answers.WhatIfAnswer, { way: example('Declined instead of paid', declined) }),
    },
    errors: ['RUN_NOT_FOUND', 'WORKFLOW_NOT_FOUND', 'VALIDATION_FAILED'],
    run: async ({ ctx, params, body, signal }) => ({
      body: await whatIf(ctx, { runId: params.runId, body }, signal),
    }),
  }),
}
