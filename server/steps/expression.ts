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
const patterns = new Map<string, RE2JS>()

/**
 * The value of an expression's text. Texts come from definitions, so a process parses each of them once.
 * @throws ExpressionFailure, UnresolvedReference, TemplateSyntaxError
 */
export function evaluateText(text: string, lookup: Lookup): JsonValue {
  return evaluate(remembered(parsed, text, parseExpression), lookup, matches)
}

/** Matches anywhere in the text. RE2's time is linear, whatever the pattern. */
const matches: Matches = (text, pattern) => remembered(patterns, pattern, compile).matcher(text).find()

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch (err) {
    throw new ExpressionFailure(`matches cannot use this pattern: ${err instanceof Error ? err.message : String(err)}`)
  }
}

function remembered<T>(cache: Map<string, T>, key: string, make: (key: string) => T): T {
  const known = cache.get(key)
  if (known !== undefined) return known
  const made = make(key)
  if (cache.size >= MAX_PARSED) cache.delete(cache.keys().next().value ?? key)
  cache.set(key, made)
  return made
}
