import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { isJsonObject } from '../definition/json'
import { StepFailure } from '../errors'
import { defineStep } from './define-step'

/** Runs another workflow, and waits for its end. */
export const runWorkflow = defineStep({
  type: 'run-workflow',
  title: 'Run a workflow',
  description: 'Runs another workflow and waits for it to end; later steps can use its result.',
  icon: 'workflow',
  group: 'work',
  mode: 'pause',
  config: z.object({
    workflowId: z.string().min(1, 'is required').max(100).describe('The workflow to run: its published version.'),
    input: z.record(z.string(), AnyJson).default({}).describe('The fields of its START; may contain `${…}`.'),
    version: z.union([z.string().max(20), z.number()]).optional(),
  }),
  form: {
    workflowId: {
      widget: 'workflow',
      label: 'Workflow',
      help: 'By default, the version that is published when you publish this workflow.',
    },
    input: { widget: 'arguments', label: 'Input', of: 'workflowId', resource: 'workflow' },
    version: { widget: 'version', label: 'Version', of: 'workflowId', resource: 'workflow', advanced: true },
  },
  sample: { workflowId: '', input: {} },
  exits: ['next', 'error'],
  inputData: ({ workflowId, input, version, ...rest }) => ({
    workflowId,
    input,
    ...(version === undefined ? {} : { version }),
    ...startedBy(rest),
  }),
  defines: (config, stepId) =>
    config.saveAs
      ? { fields: { [config.saveAs]: { type: 'any' } }, open: false }
      : { fields: { [stepId]: { type: 'any' } }, open: true },
  uses: ({ workflowId, input, version }) => [{ kind: 'workflow', id: workflowId, version, args: input }],
  startsRun: true,
  ask({ config }) {
    const { runId } = startedBy(config)
    if (runId === undefined) throw new Error('A run needs an id before the step can wait for it')
    return { signal: null, childRunId: runId }
  },
  answer({ stepId, config: { saveAs }, answer }) {
    const end = 'child' in answer ? answer.child : { result: null }
    if ('failed' in end) throw new StepFailure(end.failed.code, end.failed.message)
    const { result } = end
    const output = isJsonObject(result) ? result : { [saveAs ?? stepId]: result }
    return { output, delta: saveAs ? { [saveAs]: result } : output }
  },
})

function startedBy(config: object): { runId?: string } {
  const runId = '$runId' in config ? config.$runId : undefined
  return typeof runId === 'string' ? { runId } : {}
}
