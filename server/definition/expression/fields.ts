import { isJsonObject, type JsonLike } from '../json'
import { type findReferences, type Reference, TemplateSyntaxError } from '../template'
import { type Expression, parseExpression } from './parse'

/**
 * The fields of a step that hold an expression (or code) rather than a template, whatever the step's type. They are not
 * resolved with the rest of the configuration.
 */
export const EXPRESSION_FIELDS = ['when', 'cases', 'compute', 'code'] as const

/** The expressions of a step with their paths in its configuration. */
export function expressionsOf(step: { [key: string]: JsonLike }): { path: string; text: string }[] {
  const found: { path: string; text: string }[] = []
  const { when, cases, compute } = step
  if (typeof when === 'string') found.push({ path: 'when', text: when })
  if (Array.isArray(cases)) {
    for (const [at, entry] of cases.entries())
      if (isJsonObject(entry) && typeof entry.when === 'string')
        found.push({ path: `cases[${at}].when`, text: entry.when })
  }
  if (isJsonObject(compute)) {
    for (const [name, text] of Object.entries(compute))
      if (typeof text === 'string') found.push({ path: `compute.${name}`, text })
  }
  return found
}

/** Every `${…}` of an expression; `guarded` if a missing value does no harm, as in `has(…)`. */
export function referencesOf(expression: Expression): { reference: Reference; guarded: boolean }[] {
  const found: { reference: Reference; guarded: boolean }[] = []
  const visit = (part: Expression, guarded: boolean): void => {
    switch (part.kind) {
      case 'literal':
        return
      case 'reference':
        found.push({ reference: part.reference, guarded })
        return
      case 'list':
        for (const item of part.items) visit(item, guarded)
        return
      case 'not':
      case 'minus':
        visit(part.operand, guarded)
        return
      case 'binary':
        visit(part.left, guarded)
        visit(part.right, guarded)
        return
      case 'choice':
        visit(part.test, guarded)
        visit(part.yes, guarded)
        visit(part.no, guarded)
        return
      case 'call':
        for (const arg of part.args) visit(arg, guarded || part.name === 'has')
    }
  }
  visit(expression, false)
  return found
}

type Found = ReturnType<typeof findReferences>

/** Every reference in the expressions of a step with its place, and every one that is not valid. */
export function expressionReferences(step: { [key: string]: JsonLike }): Found & { guarded: Set<Reference> } {
  const found: Found & { guarded: Set<Reference> } = { references: [], problems: [], guarded: new Set() }
  for (const { path, text } of expressionsOf(step)) {
    try {
      for (const { reference, guarded } of referencesOf(parseExpression(text))) {
        found.references.push({ path, reference })
        if (guarded) found.guarded.add(reference)
      }
    } catch (error) {
      if (!(error instanceof TemplateSyntaxError)) throw error
      found.problems.push({ path, error })
    }
  }
  return found
}
