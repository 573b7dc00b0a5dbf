import type { Definition } from './schema'

/** The language of versions saved from now on. Versions without one were saved before edges had `on`. */
export const LANGUAGE = 1

/**
 * A definition as its language reads it. What old versions hold in fields that meant nothing then changes no path:
 * they knew one exit, and no loops.
 */
export function inLanguage(definition: Definition, language: number | null): Definition {
  if (language !== null) return definition
  return {
    ...definition,
    steps: definition.steps.map(
      ({ maxVisits: _maxVisits, expiresIn: _expiresIn, ...step }) => step as (typeof definition.steps)[number],
    ),
    edges: definition.edges
      .filter((edge) => edge.type !== 'error' && typeof edge.case !== 'string' && typeof edge.condition !== 'string')
      .map(({ on: _on, ...edge }) => edge as (typeof definition.edges)[number]),
  }
}
