import { z } from 'zod'
import { Effort } from '../definition/effort'
import { ExpressionFailure, evaluate, type Matches } from '../definition/expression/evaluate'
import { type Expression, parseExpression } from '../definition/expression/parse'
import type { JsonValue } from '../definition/json'
import { type Lookup, TemplateSyntaxError } from '../definition/template'
import { costOfPattern, MAX_FOR_PATTERN, type Pattern, patternOf, statesOf } from './patterns'

/** A text that must be a valid expression. */
export const ExpressionText = z
  .string()
  .max(4_000)
  .superRefine((text, issues) => {
    try {
      parseExpression(text)
    } catch (err) {
      if (!(err instanceof TemplateSyntaxError)) throw err
      const message = text.trim() === '' ? 'must not be empty' : `is not a valid expression: ${err.message}`
      issues.addIssue({ code: 'custom', message })
    }
  })

const MAX_PARSED = 2_000
const parsed = new Map<string, Expression>()

/** The maximum cost of all expressions of one step, or of one delivery: about a quarter of a second at worst. */
const MAX_OPERATIONS = 12_000

/** A limit for expressions that are evaluated together, without anything else in between. */
export function expressionEffort(): Effort {
  return new Effort(MAX_OPERATIONS)
}

/**
 * The value of an expression's text. Texts come from definitions, so a process parses each of them once.
 * @param effort the remaining budget of the expressions that are evaluated with it
 * @throws ExpressionFailure, UnresolvedReference, TemplateSyntaxError
 */
export function evaluateText(text: string, lookup: Lookup, effort = expressionEffort()): JsonValue {
  const known = parsed.get(text)
  if (known) return evaluate(known, lookup, matches, effort)
  const expression = parseExpression(text)
  if (parsed.size >= MAX_PARSED) parsed.delete(parsed.keys().next().value ?? text)
  parsed.set(text, expression)
  return evaluate(expression, lookup, matches, effort)
}

const MAX_PATTERN = 500
const MAX_STATES = 2_000
/** Compiling is counted in units of 40 ns, evaluating in operations of some 20 µs. */
const UNITS_PER_OPERATION = 500

const matches: Matches = {
  find: (text, pattern) => compile(pattern).find(text),
  sizeOf: (pattern) => compile(pattern).states,
  costOf(pattern) {
    const cost = costOfPattern(pattern)
    if (pattern.length > MAX_PATTERN || statesOf(pattern) > MAX_STATES || cost > MAX_FOR_PATTERN)
      throw new ExpressionFailure('matches cannot use a pattern that is so long, or repeats so much')
    return Math.ceil(cost / UNITS_PER_OPERATION)
  },
}

function compile(text: string): Pattern {
  try {
    return patternOf(text)
  } catch (err) {
    throw new ExpressionFailure(`matches cannot use this pattern: ${err instanceof Error ? err.message : String(err)}`)
  }
}
