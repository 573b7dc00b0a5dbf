import { isJsonObject, type JsonLike } from '../json'
import { inexactReason } from '../long-numbers'
import { type findReferences, type Reference, referenceAt, TemplateSyntaxError } from '../template'
import { type Expression, parseExpression } from './parse'
import { tokens } from './tokens'

/**
 * The fields of a step that contain an expression (or code) rather than a template, regardless of its type. They are
 * not resolved with the rest of the configuration.
 */
export const EXPRESSION_FIELDS = ['when', 'cases', 'compute', 'code'] as const

/** An expression of a step, with its path in the configuration. */
interface Written {
  path: string
  text: string
  /** It must return true or false. */
  decides: boolean
}

/** The expressions of a step, in the order in which they are evaluated. */
export function expressionsOf(step: { [key: string]: JsonLike }): Written[] {
  const found: Written[] = []
  const { when, cases, compute } = step
  if (typeof when === 'string') found.push({ path: 'when', text: when, decides: true })
  if (Array.isArray(cases)) {
    for (const [at, entry] of cases.entries())
      if (isJsonObject(entry) && typeof entry.when === 'string')
        found.push({ path: `cases[${at}].when`, text: entry.when, decides: true })
  }
  if (isJsonObject(compute)) {
    for (const [name, text] of Object.entries(compute))
      if (typeof text === 'string') found.push({ path: `compute.${name}`, text, decides: false })
  }
  return found
}

/**
 * Every `${…}` of an expression; `guarded` if a missing value does no harm: inside `has(…)`, and after a `has(…)` of
 * the same field, as in `has(${a}) && ${a} > 1`.
 */
export function referencesOf(expression: Expression): { reference: Reference; guarded: boolean }[] {
  const found: { reference: Reference; guarded: boolean }[] = []
  /** @param known the fields that have a value wherever this part is evaluated */
  const visit = (part: Expression, known: ReadonlySet<string>): void => {
    switch (part.kind) {
      case 'literal':
        return
      case 'reference':
        found.push({ reference: part.reference, guarded: known.has(part.reference.root) })
        return
      case 'list':
        for (const item of part.items) visit(item, known)
        return
      case 'not':
      case 'minus':
        visit(part.operand, known)
        return
      case 'binary':
        visit(part.left, known)
        visit(
          part.right,
          part.operator === '&&' || part.operator === '||' ? after(known, part.left, part.operator === '&&') : known,
        )
        return
      case 'choice':
        visit(part.test, known)
        visit(part.yes, after(known, part.test, true))
        visit(part.no, after(known, part.test, false))
        return
      case 'call':
        for (const arg of part.args)
          visit(arg, part.name === 'has' && arg.kind === 'reference' ? new Set([arg.reference.root]) : known)
    }
  }
  visit(expression, new Set())
  return found
}

function after(known: ReadonlySet<string>, test: Expression, outcome: boolean): ReadonlySet<string> {
  return new Set([...known, ...present(test, outcome)])
}

/** The fields that have a value if an expression is true, or if it is false. */
function present(test: Expression, outcome: boolean): string[] {
  if (test.kind === 'not') return present(test.operand, !outcome)
  if (test.kind === 'call' && test.name === 'has' && outcome)
    return test.args.flatMap((arg) => (arg.kind === 'reference' ? [arg.reference.root] : []))
  if (test.kind === 'binary' && test.operator === (outcome ? '&&' : '||'))
    return [...present(test.left, outcome), ...present(test.right, outcome)]
  return []
}

type Found = ReturnType<typeof findReferences>

/** The problem with a number in a valid expression; null if each is exact. */
export function inexactIn(text: string): string | null {
  for (const token of /\d{16}/.test(text) ? tokens(text) : []) {
    const { kind, text: part } = token
    if (kind === 'value' && !/^\d/.test(part)) continue
    const inexact = kind === 'reference' ? referenceAt(part, 0).reference.fallback?.inexact : inexactReason(part)
    if (inexact) return inexact
  }
  return null
}

/** Every reference in the expressions of a step with its position, and every invalid expression. */
export function expressionReferences(step: { [key: string]: JsonLike }): Found & { guarded: Set<Reference> } {
  const found: Found & { guarded: Set<Reference> } = { references: [], problems: [], guarded: new Set() }
  for (const { path, text } of expressionsOf(step)) {
    try {
      for (const { reference, guarded } of referencesOf(parseExpression(text))) {
        found.references.push({ path, reference })
        if (guarded) found.guarded.add(reference)
      }
      const inexact = inexactIn(text)
      if (inexact) found.problems.push({ path, error: new TemplateSyntaxError(inexact) })
    } catch (error) {
      if (!(error instanceof TemplateSyntaxError)) throw error
      found.problems.push({ path, error })
    }
  }
  return found
}
