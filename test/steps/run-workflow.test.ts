import { describe, expect, test } from 'vitest'
import { StepFailure } from '@/server/errors'
import { runWorkflow } from '@/server/steps/run-workflow'

const config = (more: object = {}) => ({
  ...runWorkflow.config.parse({ workflowId: 'wf_a', input: { n: 1 } }),
  ...more,
})
const answer = (child: object, more: object = {}) => {
  if (runWorkflow.mode !== 'pause') throw new Error('it waits')
  return runWorkflow.answer({ stepId: 'sub', config: config(more), answer: { child: child as never } })
}

describe('run-workflow', () => {
  test('waits for the run whose id it was given, which history shows', () => {
    if (runWorkflow.mode !== 'pause') throw new Error('it waits')
    const given = config({ $runId: 'run_1' })
    const place = { stepId: 'sub', config: given, data: {}, now: new Date() }
    expect(runWorkflow.ask(place)).toEqual({ signal: null, childRunId: 'run_1' })
    expect(runWorkflow.inputData?.(given)).toEqual({ workflowId: 'wf_a', input: { n: 1 }, runId: 'run_1' })
  })

  test.each([
    ['merges an object', { a: 1 }, {}, { a: 1 }, { a: 1 }],
    ['stores an object under saveAs', { a: 1 }, { saveAs: 'got' }, { a: 1 }, { got: { a: 1 } }],
    ['stores any other value under its id', 7, {}, { sub: 7 }, { sub: 7 }],
    ['stores any other value under saveAs', [7], { saveAs: 'got' }, { got: [7] }, { got: [7] }],
  ])('%s', (_what, result, more, output, delta) => {
    expect(answer({ result }, more)).toEqual({ output, delta })
  })

  test('fails with the reason of a run that did not complete', () => {
    expect(() => answer({ failed: { code: 'CHILD_FAILED', message: 'It was cancelled' } })).toThrow(StepFailure)
  })

  test('names the workflow and its input for the check at publish', () => {
    expect(runWorkflow.uses?.(config())).toEqual([{ kind: 'workflow', id: 'wf_a', args: { n: 1 } }])
  })
})
