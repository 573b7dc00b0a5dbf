import { z } from 'zod'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { largeRead } from '../large-reads'
import { parseInput } from '../parse'
import { readCursor, writeCursor } from '../query/cursor'
import { wholeNumber } from '../query/values'
import { findThread } from './thread'
import { readTurns } from './turns'

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

/** The query string. */
export const ReadThread = z.object({
  limit: wholeNumber(1, MAX_LIMIT).optional().describe('How many turns. The default is 20.'),
  cursor: z.string().max(400).optional().describe('The `nextCursor` of the previous page.'),
})

const Position = z.tuple([z.int().min(1).max(2_147_483_647)])
const NOT_OF_THIS_THREAD = { path: 'cursor', message: 'is not a nextCursor of this thread' }

/**
 * A thread with its turns, newest first.
 * @throws AppError THREAD_NOT_FOUND, INVALID_INPUT, UNAVAILABLE
 */
export async function getThread(ctx: ServiceContext, ids: { agentId: string; threadId: string }, query: unknown) {
  authorize(ctx, 'agent:read')
  const { limit = DEFAULT_LIMIT, cursor } = parseInput(ReadThread, query)
  const [before] = cursor === undefined ? [null] : readCursor(Position, cursor, NOT_OF_THIS_THREAD)
  const { createdAt, updatedAt, ...thread } = await findThread(ctx, ids.agentId, ids.threadId)
  const turns = await largeRead(ctx, (reading) => readTurns(reading, thread.id, { before, limit }))
  const oldest = turns[0]?.seq ?? 1
  return {
    ...thread,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    turns: turns.reverse(),
    nextCursor: oldest > 1 ? writeCursor([oldest]) : null,
  }
}
