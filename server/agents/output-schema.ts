import type { JsonObject, JsonValue } from '../definition/json'
import { AppError, type ErrorDetail } from '../errors'
import { mismatches, schemaProblems } from '../tools/json-schema'

/** What is wrong with an answer, one entry for each fault; empty when it fits. */
export function checkOutput(schema: JsonObject, value: JsonValue): ErrorDetail[] {
  return mismatches(schema, value, 'data')
}

/** @throws AppError INVALID_INPUT when a saved schema could not judge an answer */
export function requireSchema(schema: JsonObject | null): void {
  if (schema === null) return
  const details =
    schema.type === 'object'
      ? schemaProblems(schema, 'outputSchema')
      : [{ path: 'outputSchema.type', message: 'must be "object": an answer is a JSON object' }]
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
}
