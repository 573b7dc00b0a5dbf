import { exitOf } from './exits'
import type { Definition, Step } from './schema'

/** The name of the result of an item's run, for the step's `result`. */
const RESULT = 'result'

/** The id of the step that runs the workflow of a `for-each`. No step that people write can have it. */
const ofItem = (stepId: string) => `${stepId}.run`

/** The step that runs the workflow for one item of a `for-each`; undefined for any other step. */
export function stepOfItem({ steps }: Definition, stepId: string): Step | undefined {
  return steps.find(({ id }) => id === ofItem(stepId))
}

/** The step, as it was written, that a step of an expanded definition belongs to. */
export function writtenStepId(stepId: string): string {
  return stepId.endsWith('.run') ? stepId.slice(0, -'.run'.length) : stepId
}

/**
 * A definition as runs and checks read it: where a `for-each` names a workflow instead of steps, its body is one step
 * that runs it.
 */
export function expand(definition: Definition): Definition {
  const steps = definition.steps.filter((step) => runsWorkflow(definition, step))
  if (steps.length === 0) return definition
  return {
    ...definition,
    steps: [
      ...definition.steps.map((step) => (steps.includes(step) ? withoutWorkflow(step) : step)),
      ...steps.map(body),
    ],
    edges: [...definition.edges, ...steps.map(({ id }) => ({ from: id, to: ofItem(id), on: 'each' }))],
  }
}

/** Whether a step runs a workflow for each item, and no steps. */
function runsWorkflow({ edges }: Definition, { id, type, workflowId }: Step): boolean {
  if (type !== 'for-each' || typeof workflowId !== 'string' || workflowId === '') return false
  return !edges.some((edge) => edge.from === id && exitOf(edge) === 'each')
}

function withoutWorkflow({ workflowId: _workflowId, version: _version, input: _input, ...step }: Step): Step {
  return { result: `\${${RESULT}}`, ...step } as Step
}

function body({ id, name, workflowId, version, input }: Step): Step {
  return {
    id: ofItem(id),
    type: 'run-workflow',
    ...(name === undefined ? {} : { name }),
    workflowId,
    ...(version === undefined ? {} : { version }),
    ...(input === undefined ? {} : { input }),
    saveAs: RESULT,
  } as Step
}
