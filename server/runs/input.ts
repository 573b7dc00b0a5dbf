import { AppError } from '../errors'
import { checkFields } from '../fields'
import { isJsonObject, type JsonObject, own } from '../json'
import type { Fields } from '../workflows/schema'

/**
 * The run's first data from a start's body. Values may stand at the top level or in an object `data`,
 * which wins field by field; where `data` is itself a declared field it is just that field.
 * @throws AppError INVALID_INPUT with one detail for each field that is missing or has the wrong type
 */
export function readStartInput(payload: Fields, body: JsonObject): JsonObject {
  const nested = own(body, 'data')
  const values = !Object.hasOwn(payload, 'data') && isJsonObject(nested) ? { ...body, ...nested } : body
  const { data, details } = checkFields(payload, values)
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
  return data
}
