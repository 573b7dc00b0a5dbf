import type { Definition, Step } from './schema'

/**
 * The language of versions saved from now on. Versions without one were saved before edges had `on`, those with 1 before
 * steps for people had assignees.
 */
export const LANGUAGE = 2

/** What meant nothing in the steps for people before 2. */
const FOR_PEOPLE = ['assignees', 'needs', 'noSelfApproval', 'dueIn']

/**
 * A definition as its language reads it. What old versions hold in fields that meant nothing then changes no path:
 * they knew one exit, and no loops.
 */
export function inLanguage(definition: Definition, language: number | null): Definition {
  if (language !== null && language >= LANGUAGE) return definition
  const steps = definition.steps.map(forAnybody)
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

function forAnybody(step: Step): Step {
  if (step.type !== 'request-user-action' && step.type !== 'collect-inputs') return step
  return Object.fromEntries(Object.entries(step).filter(([name]) => !FOR_PEOPLE.includes(name))) as Step
}
