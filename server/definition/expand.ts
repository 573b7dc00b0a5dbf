import { exitOf } from './exits'
import type { Definition, Step } from './schema'

/** The name of the result of an item's run, for the step's `result`. */
const RESULT = 'result'

/**
 * Returns the id of the step that runs the workflow of a `for-each`. If a written step has the usual one, it is an id
 * that no written step can have.
 */
function itemIds({ steps }: Definition): (stepId: string) => string {
  const written = new Set(steps.map(({ id }) => id))
  return (stepId) => (written.has(`${stepId}.run`) ? `${stepId}~run` : `${stepId}.run`)
}

/** The step that runs the workflow for one item of a `for-each`; undefined for any other step. */
export function stepOfItem(written: Definition, stepId: string): Step | undefined {
  const id = itemIds(written)(stepId)
  return expand(written).steps.find((step) => step.id === id)
}

/** Returns the id of the written step to which a step of the expanded definition belongs. */
export function writtenIds({ steps }: Definition): (stepId: string) => string {
  const written = new Set(steps.map(({ id }) => id))
  return (stepId) => (written.has(stepId) ? stepId : stepId.replace(/[.~]run$/, ''))
}

/**
 * A definition as runs and checks read it: where a `for-each` names a workflow instead of steps, its body is one step
 * that runs it.
 */
export function expand(definition: Definition): Definition {
  const steps = definition.steps.filter((step) => runsWorkflow(definition, step))
  if (steps.length === 0) return definition
  const idOf = itemIds(definition)
  return {
    ...definition,
    steps: [
      ...definition.steps.map((step) => (steps.includes(step) ? withoutWorkflow(step) : step)),
      ...steps.map((step) => body(step, idOf(step.id))),
    ],
    edges: [...definition.edges, ...steps.map(({ id }) => ({ from: id, to: idOf(id), on: 'each' }))],
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

function body({ name, workflowId, version, input }: Step, id: string): Step {
  return {
    id,
    type: 'run-workflow',
    ...(name === undefined ? {} : { name }),
    workflowId,
    ...(version === undefined ? {} : { version }),
    ...(input === undefined ? {} : { input }),
    saveAs: RESULT,
  } as Step
}
