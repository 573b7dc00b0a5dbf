import { RE2JS } from 're2js'
import { z } from 'zod'
import { ExpressionFailure, evaluate, type Matches } from '../definition/expression/evaluate'
import { type Expression, parseExpression } from '../definition/expression/parse'
import type { JsonValue } from '../definition/json'
import { type Lookup, TemplateSyntaxError } from '../definition/template'

/** A text that must be a valid expression. */
export const ExpressionText = z
  .string()
  .max(4_000)
  .superRefine((text, issues) => {
    try {
      parseExpression(text)
    } catch (err) {
      if (!(err instanceof TemplateSyntaxError)) throw err
      issues.addIssue({ code: 'custom', message: `is not a valid expression: ${err.message}` })
    }
  })

const MAX_PARSED = 2_000
const parsed = new Map<string, Expression>()

/**
 * The value of an expression's text. Texts come from definitions, so a process parses each of them once.
 * @throws ExpressionFailure, UnresolvedReference, TemplateSyntaxError
 */
export function evaluateText(text: string, lookup: Lookup): JsonValue {
  const known = parsed.get(text)
  if (known) return evaluate(known, lookup, matches)
  const expression = parseExpression(text)
  if (parsed.size >= MAX_PARSED) parsed.delete(parsed.keys().next().value ?? text)
  parsed.set(text, expression)
  return evaluate(expression, lookup, matches)
}

/** Longer patterns, and those that repeat more often, compile to programs of many megabytes. */
const MAX_PATTERN = 500
const MAX_STATES = 2_000
/** Few, because a pattern may come from run data. */
const MAX_COMPILED = 100
const compiled = new Map<string, { pattern: RE2JS; states: number }>()

const matches: Matches = {
  find: (text, pattern) => compile(pattern).pattern.matcher(text).find(),
  sizeOf: (pattern) => compile(pattern).states,
}

function compile(text: string): { pattern: RE2JS; states: number } {
  const known = compiled.get(text)
  if (known) return known
  const states = statesOf(text)
  if (text.length > MAX_PATTERN || states > MAX_STATES)
    throw new ExpressionFailure('matches cannot use a pattern that is so long, or repeats so much')
  try {
    const made = { pattern: RE2JS.compile(text), states }
    if (compiled.size >= MAX_COMPILED) compiled.delete(compiled.keys().next().value ?? text)
    compiled.set(text, made)
    return made
  } catch (err) {
    throw new ExpressionFailure(`matches cannot use this pattern: ${err instanceof Error ? err.message : String(err)}`)
  }
}

/** About the number of states of the compiled pattern: a repeated part counts as often as it may occur. */
function statesOf(pattern: string): number {
  const groups = [{ sum: 0, last: 0 }]
  const add = (size: number) => {
    const group = groups.at(-1)
    if (group) Object.assign(group, { sum: group.sum + size, last: size })
  }
  for (const [part, class_, low, high] of pattern.matchAll(PARTS)) {
    if (part === '(') groups.push({ sum: 0, last: 0 })
    else if (part === ')' && groups.length > 1) add(1 + (groups.pop()?.sum ?? 0))
    else if (low === undefined || class_ !== undefined) add(1)
    else add((groups.at(-1)?.last ?? 0) * (Math.max(1, Number(low), Number(high ?? 0)) - 1))
  }
  return groups.reduce((total, { sum }) => total + sum, 1)
}

/** An escape or a class of characters, a counted repetition, or any other character. */
const PARTS = /(\\(?:[pPx]\{[^}]*\}|.)|\[\^?\]?(?:\\.|[^\]\\])*\])|\{(\d{1,9})(?:,(\d{0,9}))?\}|./gs
