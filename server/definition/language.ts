import type { Definition, Step } from './schema'

/**
 * The language of versions saved from now on. Versions without one were saved before edges had `on`, those with 1
 * before steps for people had assignees, those with 2 before `for-each` could run a workflow.
 */
export const LANGUAGE = 3

/** Fields that had no meaning before a language. */
const NEW_FIELDS: Record<string, { since: number; fields: readonly string[] }> = {
  'request-user-action': { since: 2, fields: ['assignees', 'needs', 'noSelfApproval', 'dueIn'] },
  'collect-inputs': { since: 2, fields: ['assignees', 'needs', 'noSelfApproval', 'dueIn'] },
  'for-each': { since: 3, fields: ['workflowId', 'version', 'input'] },
  'run-workflow': { since: 3, fields: ['version'] },
}

/**
 * A definition as its language reads it. In old versions, fields without a meaning at the time are ignored: steps had
 * one exit, and there were no loops.
 */
export function inLanguage(definition: Definition, language: number | null): Definition {
  if (language !== null && language >= LANGUAGE) return definition
  const steps = definition.steps.map((step) => asOf(step, language ?? 0))
  if (language !== null) return { ...definition, steps }
  return {
    ...definition,
    steps: steps.map(
      ({ maxVisits: _maxVisits, expiresIn: _expiresIn, ...step }) => step as (typeof definition.steps)[number],
    ),
    edges: definition.edges
      .filter((edge) => edge.type !== 'error' && typeof edge.case !== 'string' && typeof edge.condition !== 'string')
      .map(({ on: _on, ...edge }) => edge as (typeof definition.edges)[number]),
  }
}

function asOf(step: Step, language: number): Step {
  const added = Object.hasOwn(NEW_FIELDS, step.type) ? NEW_FIELDS[step.type] : undefined
  if (!added || language >= added.since) return step
  return Object.fromEntries(Object.entries(step).filter(([name]) => !added.fields.includes(name))) as Step
}
