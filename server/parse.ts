import './definition/zod-words'
import type { z } from 'zod'
import { pathText } from './definition/json'
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

export function issuesToDetails(issues: readonly z.core.$ZodIssue[], prefix = ''): ErrorDetail[] {
  return issues.slice(0, 100).flatMap((issue) => {
    if (issue.code === 'invalid_union' && issue.errors.length === 1 && issue.errors[0])
      return issuesToDetails(issue.errors[0], prefix)
    return [{ path: pathText(issue.path, prefix), message: issue.message }]
  })
}
