import { answer } from '../../openapi/answer'
import { endpoint } from '../../openapi/endpoint'
import { example } from '../../openapi/example'
import { WORKFLOW_ID } from '../../workflows/examples'
import { RUN_ID } from '../examples'
import * as answers from './answers'
import { backtestWorkflow } from './backtest'
import { BacktestWorkflow } from './schema'

/** An example. */
export const nineDiffer = {
  workflowId: WORKFLOW_ID,
  version: 3,
  sampled: { runs: 200, of: 5000, newestOf: 5000, strata: 7 },
  counts: { same: 191, result: 0, way: 9, fails: 0, passes: 0, untold: 0, assumed: 9 },
  groups: [
    {
      verdict: {
        is: 'way',
        at: { branch: 'main', stepId: 'decision', visit: 1 },
        was: { exit: 'false', next: 'refuse' },
        now: { exit: 'true', next: 'pay' },
        calls: { new: ['pay'], gone: [], changed: [] },
        assumed: [{ place: { branch: 'main', stepId: 'pay', visit: 1 }, why: 'succeeds' }],
      },
      count: 9,
      about: 112,
      assuming: 9,
      runs: [RUN_ID],
    },
  ],
  truncated: false,
}

export const BACKTEST_ENDPOINTS = {
  backtestWorkflow: endpoint({
    method: 'POST',
    path: '/api/workflows/{id}/backtest',
    parameters: { id: { description: 'The workflow.', example: WORKFLOW_ID } },
    tag: 'Workflows',
    summary: 'Try past runs on a draft',
    description:
      'How would past runs end on a saved version, the draft by default? Takes a sample of the newest 5,000 runs that ended by themselves, computes each anew with the results of its calls and the answers of its people, and groups the differences. Nothing is executed and nothing is stored. A call that a run did not make has an unknown result, unless `assume` gives one; where that would decide, the verdict is `untold`. Values that the caller may not see decide nothing either. It ends after 25 seconds, with `truncated`. One at a time per workspace; another one gets 429.',
    permission: 'workflow:simulate',
    body: {
      schema: BacktestWorkflow,
      required: false,
      examples: {
        draft: example('A sample on the draft', {}),
        failed: example('Failed runs, with the result of a new call', {
          of: 'failed',
          assume: { charge: { id: 'ch_1' } },
          each: true,
        }),
      },
    },
    answers: { 200: answer('The verdicts.', answers.Backtest, { way: example('Nine go another way', nineDiffer) }) },
    errors: ['WORKFLOW_NOT_FOUND', 'VALIDATION_FAILED'],
    run: async ({ ctx, params, body, signal }) => ({
      body: await backtestWorkflow(ctx, { id: params.id, body }, signal),
    }),
  }),
}
