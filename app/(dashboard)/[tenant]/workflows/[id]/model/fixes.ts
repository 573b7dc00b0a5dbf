import { exitOf } from '@/server/definition/exits'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import { assigneeFix } from './assignees'
import { branchFix } from './branch-fixes'
import { FIRST_BOUND } from './connect'
import { exitsOf, findStep, nameOf, openExitOf } from './definition'
import { keyFix, stepFix } from './draft-fixes'
import { addStep, updateStep } from './edit-steps'
import type { Fix } from './fix'
import { placeOf } from './place'
import { withNames } from './problem-names'
import { referenceFix } from './reference-fixes'
import { unknownFieldFix } from './unknown-fixes'
import { argumentFix, literalFix, startFieldFix } from './value-fixes'

/** With the fixes, because both are loaded once there is a problem to show. */
export { withNames }

/** The fix of a problem, or null if the user must decide. */
export function fixOf(definition: Definition, catalog: Catalog, problem: Problem): Fix | null {
  const { code, stepId } = problem
  const step = stepId === undefined ? undefined : findStep(definition, stepId)
  // The picker asks for the step: see the button.
  if (code === 'NO_STEPS') return { label: 'Add step', apply: (before) => before }
  if (code === 'UNKNOWN_ON_CANCEL') {
    return { label: 'Remove the cleanup path', apply: ({ onCancel: _gone, ...rest }) => rest }
  }
  if (code === 'UNKNOWN_ON_FAILURE') {
    return { label: 'Remove the failure path', apply: ({ onFailure: _gone, ...rest }) => rest }
  }
  if (code === 'UNKNOWN_INITIAL_STEP' || code === 'NO_INITIAL_STEP') {
    const first = definition.steps[0]
    if (!first) return null
    return { label: `Start with ${nameOf(first)}`, apply: (before) => ({ ...before, initialStep: first.id }) }
  }
  if (code === 'DANGLING_EDGE') {
    const ids = new Set(definition.steps.map(({ id }) => id))
    return withEdges('Remove the connection', ({ from, to }) => ids.has(from) && ids.has(to))
  }
  if (code === 'W_BUSINESS_KEY') return keyFix(definition, problem)
  if (code === 'W_UNKNOWN_FIELD') return unknownFieldFix(definition, problem)
  if (!step) return null
  switch (code) {
    case 'EXPRESSION_UNRESOLVED':
    case 'W_REF_NEVER':
    case 'W_REF_MAYBE':
      return (
        (placeOf(step, problem.field) === null ? null : referenceFix(step.id, problem)) ??
        stepFix(definition, catalog, problem)
      )
    case 'W_TOOL_ARGS':
    case 'W_WORKFLOW_INPUT':
      return argumentFix(step.id, step, problem) ?? startFieldFix(definition, step, problem)
    case 'TYPE_MISMATCH':
    case 'W_TYPE_MISMATCH':
      return literalFix(step.id, step, problem)
    case 'W_ASSIGNEE':
      return assigneeFix(step, problem)
    case 'BRANCH_CONFLICT':
    case 'W_BRANCH_OPEN':
      return branchFix(definition, catalog, step, problem)
    case 'AMBIGUOUS_EDGES': {
      const seen = new Set<string>()
      return withEdges('Keep the first connection', (edge) => {
        const key = `${edge.from} ${exitOf(edge)}`
        return edge.from !== step.id || seen.size !== seen.add(key).size
      })
    }
    case 'UNKNOWN_EXIT': {
      const exits = exitsOf(definition, catalog, step.id).map(({ id }) => id)
      return withEdges('Remove the connection', (edge) => edge.from !== step.id || exits.includes(exitOf(edge)))
    }
    case 'CYCLE_WITHOUT_BOUND':
      return {
        label: `Allow ${FIRST_BOUND.toLocaleString('en')} visits`,
        apply: (before) => updateStep(before, step.id, { maxVisits: FIRST_BOUND }),
      }
    case 'W_NO_END': {
      const end = catalog.steps.find(({ mode }) => mode === 'end')
      const exit = openExitOf(definition, catalog, step.id)
      if (!end || exit === null) return null
      return {
        label: `Add ${end.title}`,
        apply: (before) => addStep(before, catalog, end.type, { after: step.id, exit }).definition,
      }
    }
    default:
      return stepFix(definition, catalog, problem)
  }
}

function withEdges(label: string, keep: (edge: Definition['edges'][number]) => boolean): Fix {
  return { label, apply: (before) => ({ ...before, edges: before.edges.filter(keep) }) }
}
