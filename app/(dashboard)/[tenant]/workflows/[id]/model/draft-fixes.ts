import { nearestName } from '@/server/definition/nearest'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import { asObject, freeId, nameProblem } from './definition'
import { removeSteps, updateStep } from './edit-steps'
import type { Fix } from './fix'
import { renameRoot, rewriteText } from './references'

/** Names that a run gives by itself, so that START cannot. */
const OF_THE_RUN = ['secrets', 'error', 'item', 'index', 'event']

/** A START field that the key names wrongly gets its name; a key that nothing can fill goes. */
export function keyFix(definition: Definition, { message }: Problem): Fix {
  const wrong = /START has no field ([\w-]+)\.$/.exec(message)?.[1]
  const meant = wrong === undefined ? null : nearestName(wrong, Object.keys(definition.payload))
  if (wrong !== undefined && meant !== null) {
    return {
      label: `Use \${${meant}}`,
      apply: (before) => ({
        ...before,
        businessKey: rewriteText(before.businessKey ?? '', renameRoot(wrong, meant)).text,
      }),
    }
  }
  return { label: 'Remove the business key', apply: ({ businessKey: _gone, ...rest }) => rest }
}

/** Fixes of a step's place in the draft, its type and its names. */
export function stepFix(definition: Definition, catalog: Catalog, problem: Problem): Fix | null {
  const { code, message, stepId = '', field } = problem
  const step = definition.steps.find(({ id }) => id === stepId)
  if (!step) return null
  switch (code) {
    case 'DUPLICATE_STEP_ID': {
      const free = freeId(stepId, new Set(definition.steps.map(({ id }) => id)))
      // The first keeps its id, because connections and references mean it.
      return {
        label: `Name the second ${free}`,
        apply: (before) => {
          const second = before.steps.findLastIndex(({ id }) => id === stepId)
          return { ...before, steps: before.steps.map((one, index) => (index === second ? { ...one, id: free } : one)) }
        },
      }
    }
    case 'UNKNOWN_STEP_TYPE': {
      const meant = nearestName(
        step.type,
        catalog.steps.map(({ type }) => type),
      )
      return meant === null
        ? null
        : { label: `Make it ${meant}`, apply: (before) => updateStep(before, stepId, { type: meant }) }
    }
    case 'W_UNREACHABLE':
      return {
        label: 'Remove the step',
        apply: (before) => removeSteps(before, catalog, [stepId], { reconnect: false }),
      }
    case 'W_EMPTY_BRANCH': {
      const exit = /^The exit (\S+) of/.exec(message)?.[1]
      const branches = step.type === 'parallel' && Array.isArray(step.branches) ? step.branches : []
      const left = branches.filter((branch) => asObject(branch).id !== exit)
      if (left.length === branches.length || left.length === 0) return null
      return { label: 'Remove the branch', apply: (before) => updateStep(before, stepId, { branches: left }) }
    }
    case 'REGION_ENTERED': {
      const from = /, so (\S+) cannot lead there\.$/.exec(message)?.[1]
      if (from === undefined) return null
      return {
        label: `Remove the connection from ${from}`,
        apply: (before) => ({
          ...before,
          edges: before.edges.filter((edge) => edge.from !== from || edge.to !== stepId),
        }),
      }
    }
    case 'INVALID_CONFIG': {
      const [, action] = /^names the action (.+), which the step does not have$/.exec(message) ?? []
      if (field === 'needs' && action !== undefined) {
        const { [action]: _gone, ...rest } = asObject(step.needs)
        const needs = Object.keys(rest).length === 0 ? undefined : rest
        return { label: `Remove the votes for ${action}`, apply: (before) => updateStep(before, stepId, { needs }) }
      }
      if (field === 'assignees' && /^names .+ twice$/.test(message) && Array.isArray(step.assignees)) {
        const seen = new Set<string>()
        const once = step.assignees.filter((one) => {
          const name = String(one).toLowerCase()
          return seen.size !== seen.add(name).size
        })
        return { label: 'Name each once', apply: (before) => updateStep(before, stepId, { assignees: once }) }
      }
      return null
    }
    case 'EXPRESSION_UNRESOLVED': {
      const root = /no START field and no earlier step is named ([\w-]+)\./.exec(message)?.[1]
      if (root === undefined || OF_THE_RUN.includes(root) || nameProblem(root) !== null) return null
      return {
        label: `Add ${root} to START`,
        apply: (before) => ({ ...before, payload: { ...before.payload, [root]: { type: 'any' } } }),
      }
    }
    default:
      return null
  }
}
