import './definition/zod-words'
import type { z } from 'zod'
import { isJsonObject, pathText } from './definition/json'
import { nearestName } from './definition/nearest'
import { AppError, type ErrorDetail } from './errors'

/**
 * Parses input from a transport.
 * @throws AppError INVALID_INPUT with one detail per problem
 */
export function parseInput<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  throw new AppError('INVALID_INPUT', { details: issuesToDetails(result.error.issues) })
}

/**
 * Like `parseInput`, for an object that may have only fields the schema knows: a dropped field would seem to have taken
 * effect.
 * @param also other fields it may have
 * @throws AppError INVALID_INPUT
 */
export function parseWhole<S extends z.ZodObject>(
  schema: S,
  input: unknown,
  also: readonly string[] = [],
): z.output<S> {
  requireKnown(input, [...Object.keys(schema.shape), ...also])
  return parseInput(schema, input)
}

/**
 * Refuses fields that a call does not have.
 * @throws AppError INVALID_INPUT
 */
export function requireKnown(input: unknown, known: readonly string[]): void {
  const unknown = isJsonObject(input) ? Object.keys(input).filter((name) => !known.includes(name)) : []
  if (unknown.length === 0) return
  throw new AppError('INVALID_INPUT', {
    details: unknown.slice(0, 20).map((name) => unknownName(name, known, 'field')),
  })
}

/** The error for a field or a parameter that a call does not have. */
export function unknownName(name: string, known: readonly string[], what: 'field' | 'parameter'): ErrorDetail {
  const near = name.length > 100 ? null : nearestName(name, known)
  const none = known.length === 0 ? `This call has no ${what}s.` : `This call has no such ${what}.`
  return { path: name.slice(0, 100), message: near === null ? none : `${none} Did you mean ${near}?` }
}

export function issuesToDetails(issues: readonly z.core.$ZodIssue[], prefix = ''): ErrorDetail[] {
  return issues.slice(0, 100).flatMap((issue) => {
    if (issue.code === 'invalid_union' && issue.errors.length === 1 && issue.errors[0])
      return issuesToDetails(issue.errors[0], prefix)
    return [{ path: pathText(issue.path, prefix), message: issue.message }]
  })
}
