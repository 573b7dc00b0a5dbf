import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { runs } from '@/db/schema/runs'
import type { ErrorDetail } from '../errors'
import { isId } from '../ids'
import { readCursor, writeCursor } from '../query/cursor'

/** A run's position among all runs of its workspace, which never changes. */
export interface RunPosition {
  startTime: string
  id: string
}

const Position = z.tuple([z.iso.datetime().startsWith('2'), z.string().refine(isId)])

export function writePosition({ startTime, id }: { startTime: Date | string; id: string }): string {
  return writeCursor([startTime, id])
}

/** @throws AppError INVALID_INPUT with this detail */
export function readPosition(text: string, detail: ErrorDetail): RunPosition {
  const [startTime, id] = readCursor(Position, text, detail)
  return { startTime, id }
}

export function olderThan({ startTime, id }: RunPosition): SQL {
  return sql`(${runs.startTime}, ${runs.id}) < (${startTime}::timestamptz, ${id})`
}

export function newerThan({ startTime, id }: RunPosition): SQL {
  return sql`(${runs.startTime}, ${runs.id}) > (${startTime}::timestamptz, ${id})`
}
