import { expect } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { postEvent } from '@/server/events/post'
import { resumeRun } from '@/server/runs/resume'
import type { steps } from '@/server/steps/registry'
import { computes, contains, type Row, waits, works } from './cases'
import type { How, World } from './world'

const SAID = { said: 'yes' }
const ACTIONS = [{ id: 'yes', label: 'Yes' }]
/** An exit is chosen, and nothing is written. */
const chose = (outputData: object, exit: string) => ({ status: 'completed', attempt: 1, outputData, exit })

/** A step type, and perhaps a variant that works differently. */
export type RowName = keyof typeof steps | 'call-agent with a tool' | 'for-each of a workflow'

/**
 * Every step type in every situation: one row each.
 * @param name the name under which calls of the row's run are counted
 */
export function tableOf(world: World, name: string): Record<RowName, Row> {
  const address = (how: How) => `${world.url}/${how}/${name}`
  const call = (how: How) => ({ id: 'call', type: 'http-request', url: address(how), saveAs: 'got' })
  const resume = (body: object) => (ctx: ServiceContext, runId: string) => resumeRun(ctx, { runId, body })
  return {
    'call-agent': works({
      step: (how) => ({ agentId: world.agentId, message: `${how}/${name}` }),
      once: 'flaky',
      output: SAID,
      refused: 'MODEL_ERROR',
    }),
    'call-agent with a tool': works({
      step: (how) => ({ agentId: world.callerId, message: `${how}/${name}` }),
      once: 'flaky',
      output: SAID,
      refused: 'MODEL_ERROR',
    }),
    'call-tool': works({
      step: (how) => ({ toolId: world.toolId, args: { how, name } }),
      once: 'flaky',
      output: SAID,
      refused: 'HTTP_ERROR',
    }),
    'http-request': works({
      step: (how) => ({ url: address(how) }),
      once: 'flaky',
      output: SAID,
      refused: 'HTTP_ERROR',
    }),
    'run-script': works({
      step: (how) => ({
        code: 'const got = await fetch(args.url); if (!got.ok) throw new Error("refused"); return got.json()',
        args: { url: address(how) },
        allowedHosts: ['127.0.0.1'],
      }),
      once: 'drops',
      output: SAID,
      refused: 'EXECUTION_ERROR',
    }),
    'collect-inputs': waits({
      step: { output: { n: { type: 'number' } } },
      long: { output: { n: { type: 'number' } } },
      act: resume({ type: 'collect_inputs', data: { n: 1 } }),
      output: { n: 1 },
      broken: { output: { n: { type: 'number' } }, title: '${wrong}' },
    }),
    'request-user-action': waits({
      step: { actions: ACTIONS },
      long: { actions: ACTIONS },
      act: resume({ type: 'request_user_action', actionId: 'yes' }),
      output: { actionId: 'yes', actionValue: 'yes' },
      exit: 'yes',
      broken: { actions: ACTIONS, title: '${wrong}' },
    }),
    'wait-for-event': waits({
      step: { event: 'settled', key: name },
      long: { event: 'settled', key: name },
      act: (ctx) => postEvent(ctx, { name: 'settled', key: name, data: { n: 1 } }),
      output: expect.objectContaining({ name: 'settled', key: name, data: { n: 1 } }),
      broken: { event: 'settled', key: '${wrong}' },
    }),
    delay: waits({
      step: { for: 'PT1S' },
      long: { for: 'PT1H' },
      act: null,
      output: {},
      broken: { until: '${wrong}' },
    }),
    'run-workflow': contains({
      inside: (how) => ({ step: { workflowId: world.childId, input: { how, name } } }),
      startsRun: true,
      output: SAID,
      code: 'CHILD_FAILED',
      never: 'Starting a run is no attempt of it: what hinders that for a while leaves the step waiting.',
    }),
    parallel: contains({
      inside: (how) => ({
        step: { branches: [{ id: 'left' }, { id: 'right' }] },
        body: {
          steps: [call(how), { id: 'note', type: 'set-data', values: { noted: true } }],
          edges: [
            { from: 'it', to: 'call', on: 'left' },
            { from: 'it', to: 'note', on: 'right' },
          ],
        },
      }),
      exit: 'done',
      output: { completed: ['left', 'right'], failed: [], stopped: [] },
      code: 'HTTP_ERROR',
      branches: (ended) => [`it#1/left/call ${ended}`, 'it#1/right/note completed'],
      never: 'The steps of its branches are tried again, each by itself.',
    }),
    'for-each': contains({
      inside: (how) => ({
        step: { items: [1], result: '${got.said}' },
        body: { steps: [call(how)], edges: [{ from: 'it', to: 'call', on: 'each' }] },
      }),
      exit: 'done',
      output: { results: ['yes'], errors: [], count: 1 },
      code: 'HTTP_ERROR',
      branches: (ended) => [`it#1/0/call ${ended}`],
      never: 'The steps of its branches are tried again, each by itself.',
    }),
    'for-each of a workflow': contains({
      inside: (how) => ({ step: { items: [1], workflowId: world.childId, input: { how, name } } }),
      exit: 'done',
      output: { results: [SAID], errors: [], count: 1 },
      code: 'CHILD_FAILED',
      branches: (ended) => [`it#1/0/it.run ${ended}`],
      startsRun: true,
      never: 'The steps of the runs that it starts are tried again, each by itself.',
    }),
    condition: computes({
      step: { when: '${wrong.n} == 1' },
      exit: 'true',
      record: chose({ value: true }, 'true'),
      broken: { when: '${wrong}' },
      code: 'EXPRESSION_FAILED',
    }),
    switch: computes({
      step: { cases: [{ id: 'one', when: '${wrong.n} == 1' }] },
      exit: 'one',
      record: chose({ case: 'one' }, 'one'),
      broken: { cases: [{ id: 'one', when: '${wrong}' }] },
      code: 'EXPRESSION_FAILED',
    }),
    'set-data': computes({
      step: { compute: { two: '${wrong.n} + 1' } },
      exit: 'next',
      record: { status: 'completed', attempt: 1, outputData: { two: 2 } },
      run: { status: 'completed', data: { two: 2, on: true } },
      broken: { compute: { two: '${wrong} * 2' } },
      code: 'EXPRESSION_FAILED',
    }),
    'end-flow': computes({
      step: { output: { n: '${wrong.n}' } },
      record: { status: 'completed', attempt: 1, outputData: { n: 1 } },
      run: { status: 'completed', outcome: 'succeeded', result: { n: 1 } },
      broken: { output: { n: '${wrong.gone}' } },
      code: 'EXPRESSION_UNRESOLVED',
    }),
    'fail-flow': computes({
      step: { code: 'OUT_OF_STOCK', message: 'No chairs.' },
      record: { status: 'failed', attempt: 1, errorCode: 'OUT_OF_STOCK' },
      run: {
        status: 'failed',
        outcome: 'failed',
        error: { code: 'OUT_OF_STOCK', message: 'No chairs.', stepId: 'it' },
      },
      broken: { code: 'OUT_OF_STOCK', message: '${wrong.gone}' },
      code: 'EXPRESSION_UNRESOLVED',
    }),
  }
}

/** The names only: nothing is called. */
export const ROWS = Object.keys(tableOf({} as World, '')) as RowName[]

export function typeOf(row: RowName): string {
  return row.split(' ')[0] ?? row
}
