import { nearestName } from '@/server/definition/nearest'
import { reachable } from '@/server/definition/paths'
import { regionsOf } from '@/server/definition/regions'
import type { Definition } from '@/server/definition/schema'
import { readReference } from '@/server/definition/template'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import { configFix } from './config-fixes'
import { asObject, entryOf, freeStepId, nameProblem, stepLabel } from './definition'
import { removeSteps, updateStep } from './edit-steps'
import type { Fix } from './fix'
import { renameRoot, rewriteText } from './references'

/** Names that every run defines, so START cannot. */
export const OF_THE_RUN = ['secrets', 'error', 'item', 'index', 'event']

/** Corrects a START field that the business key misspells; removes a key that nothing can fill. */
export function keyFix(definition: Definition, { message }: Problem): Fix {
  const source = /uses \$\{(.+)\}, but START has no field .+\.$/.exec(message)?.[1]
  const wrong = source === undefined ? undefined : readReference(source).root
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

/** Fixes for a step's place in the draft, its type and its names. */
export function stepFix(definition: Definition, catalog: Catalog, problem: Problem): Fix | null {
  const { code, message, stepId = '' } = problem
  const step = definition.steps.find(({ id }) => id === stepId)
  if (!step) return null
  switch (code) {
    case 'DUPLICATE_STEP_ID': {
      const free = freeStepId(stepId, new Set(definition.steps.map(({ id }) => id)))
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
        label: `Remove the connection from ${stepLabel(definition, from)}`,
        apply: (before) => ({
          ...before,
          edges: before.edges.filter((edge) => edge.from !== from || edge.to !== stepId),
        }),
      }
    }
    case 'INVALID_CONFIG':
      return configFix(definition, catalog, step, problem)
    case 'TOOL_NOT_FOUND':
    case 'AGENT_NOT_FOUND':
    case 'WORKFLOW_NOT_FOUND':
      // Only for a missing version; if the whole object is missing, the user chooses another.
      if (!/ has no (published version|version .+)\.$/.test(message)) return null
      return {
        // Without a version, the run uses the published one, if any.
        label: code === 'WORKFLOW_NOT_FOUND' ? 'Use the current version' : 'Use the latest version',
        apply: (before) => updateStep(before, stepId, { version: undefined }),
      }
    case 'PAUSE_IN_CLEANUP':
    case 'FORK_IN_CLEANUP':
      return removalFix(definition, catalog, stepId)
    case 'EXPRESSION_UNRESOLVED': {
      const root = /no START field and no earlier step is named (.+?)\.(?: Did you mean .*)?$/.exec(message)?.[1]
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

/**
 * Removes a step, with the steps of its branches, from the path after a cancel or a failure. Null if other paths need
 * it.
 */
function removalFix(definition: Definition, catalog: Catalog, stepId: string): Fix | null {
  const regions = regionsOf(definition, ({ type }) => entryOf(catalog, type)?.exits)
  const inside = regions.flatMap(({ fork, steps }) => (fork === stepId ? [...steps] : [])).filter((id) => id !== stepId)
  const { initialStep } = definition
  const main = initialStep === null ? new Set<string>() : reachable(definition, initialStep)
  if ([stepId, ...inside].some((id) => main.has(id))) return null
  return {
    label: inside.length === 0 ? 'Remove the step' : 'Remove the step and its branches',
    // The branches first, so that the path continues at their end.
    apply: (before) => removeSteps(removeSteps(before, catalog, inside, { reconnect: false }), catalog, [stepId]),
  }
}
