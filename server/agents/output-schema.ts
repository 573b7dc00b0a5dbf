import type { JsonObject, JsonValue } from '../definition/json'
import { AppError, type ErrorDetail } from '../errors'
import { mismatches, schemaProblems } from '../tools/json-schema'

/** The problems of an answer, one entry each; empty if it matches the schema. */
export function checkOutput(schema: JsonObject, value: JsonValue): ErrorDetail[] {
  return mismatches(schema, value, 'data')
}

/** @throws AppError INVALID_INPUT if answers cannot be checked against the schema */
export function requireSchema(schema: JsonObject | null): void {
  if (schema === null) return
  const details =
    schema.type === 'object'
      ? schemaProblems(schema, 'outputSchema')
      : [{ path: 'outputSchema.type', message: 'must be "object": an answer is a JSON object' }]
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
}
