import { z } from 'zod'
import { AppError } from '../errors'
import { isId } from '../ids'

/** A run's place among all runs of its workspace, which never changes. */
export interface Place {
  startTime: string
  id: string
}

export function writeCursor({ startTime, id }: Place): string {
  return Buffer.from(JSON.stringify([startTime, id])).toString('base64url')
}

const Cursor = z.tuple([z.iso.datetime().startsWith('2'), z.string().refine(isId)])

/** @throws AppError INVALID_INPUT */
export function readCursor(text: string, of: string): Place {
  try {
    const [startTime, id] = Cursor.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
    return { startTime, id }
  } catch (err) {
    throw new AppError('INVALID_INPUT', {
      details: [{ path: 'cursor', message: `is not a nextCursor of this ${of}` }],
      cause: err,
    })
  }
}
