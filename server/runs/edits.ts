import { checkGiven } from '../definition/fields'
import { type JsonObject, type JsonValue, jsonSize, TooDeep, toStorableJson, unstorable } from '../definition/json'
import { MAX_DATA_BYTES, readableSize } from '../definition/limits'
import type { Fields } from '../definition/schema'
import { AppError, type ErrorDetail } from '../errors'

/**
 * Checks fields of run data that a user changes by hand.
 * @throws AppError INVALID_INPUT with one detail per field that cannot be stored or does not fit START
 */
export function checkEdits(payload: Fields, edits: JsonObject): void {
  const refused = Object.entries(edits).flatMap(([name, value]) => refuseUnstorable(name, value))
  const misfits = () => checkGiven(payload, edits).map((detail) => ({ ...detail, path: `data.${detail.path}` }))
  const details = refused.length > 0 ? refused : misfits()
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
}

function refuseUnstorable(name: string, value: JsonValue): ErrorDetail[] {
  try {
    // For its depth limit, which the other check does not have.
    toStorableJson(value)
  } catch (err) {
    if (err instanceof TooDeep) return [{ path: `data.${name}`, message: err.message }]
    throw err
  }
  const problem = unstorable({ [name]: value }, 'data')
  return problem ? [problem] : []
}

/** @throws AppError INVALID_INPUT */
export function refuseTooMuchData(data: JsonObject): void {
  if (jsonSize(data) <= MAX_DATA_BYTES) return
  const message = `With these changes, the run data would be larger than ${readableSize(MAX_DATA_BYTES)}.`
  throw new AppError('INVALID_INPUT', { details: [{ path: 'data', message }] })
}
