import type { z } from 'zod'
import { AppError, type ErrorDetail } from '../errors'

/** For the `cursor` of a list. */
export const NOT_OF_THIS_LIST: ErrorDetail = { path: 'cursor', message: 'is not a nextCursor of this list' }

/** A position in a list, in the form that callers get to continue from. Times are written as `toISOString` does. */
export function writeCursor(position: readonly (string | number | Date)[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

/** @throws AppError INVALID_INPUT with this detail for a text that the list did not write */
export function readCursor<S extends z.ZodType>(schema: S, text: string, detail: ErrorDetail): z.output<S> {
  try {
    return schema.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch (err) {
    throw new AppError('INVALID_INPUT', { details: [detail], cause: err })
  }
}
