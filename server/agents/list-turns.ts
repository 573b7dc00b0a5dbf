import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { isId } from '../ids'
import { parseInput } from '../parse'
import { NOT_OF_THIS_LIST, readCursor, writeCursor } from '../query/cursor'
import { wholeNumber } from '../query/values'
import { findRow } from '../versioned/rows'
import { AGENT } from './noun'
import { presentTurn, type RecordedTurn, readRecordedTurns } from './recorded-turns'

const DEFAULT_LIMIT = 30
const MAX_LIMIT = 100

/** The query string. */
export const ListTurns = z.object({
  limit: wholeNumber(1, MAX_LIMIT).optional().describe('The default is 30.'),
  cursor: z.string().max(400).optional().describe('The `nextCursor` of the previous page.'),
})

const Position = z.tuple([z.iso.datetime().startsWith('2'), z.string().refine(isId)])

/**
 * A page of the turns of an agent, newest first.
 * @throws AppError AGENT_NOT_FOUND, INVALID_INPUT
 */
export async function listTurns(ctx: ServiceContext, agentId: string, query: unknown) {
  const { turns, nextCursor } = await findTurns(ctx, agentId, query)
  return { turns: turns.map(presentTurn), nextCursor }
}

/** The same, with what only screens show. */
export async function findTurns(
  ctx: ServiceContext,
  agentId: string,
  query: unknown,
): Promise<{ turns: RecordedTurn[]; nextCursor: string | null }> {
  authorize(ctx, 'agent:read')
  authorize(ctx, 'run:read')
  const { limit = DEFAULT_LIMIT, cursor } = parseInput(ListTurns, query)
  const after = cursor === undefined ? null : readCursor(Position, cursor, NOT_OF_THIS_LIST)
  const agent = await findRow(ctx, AGENT, agentId)
  const older = after ? sql`and (t.started_at, t.id) < (${after[0]}::timestamptz, ${after[1]})` : sql``
  const found = await readRecordedTurns(ctx, sql`t.agent_id = ${agent.id} ${older}`, limit + 1)
  const turns = found.slice(0, limit)
  const last = turns.at(-1)
  return { turns, nextCursor: found.length > limit && last ? writeCursor([new Date(last.began), last.id]) : null }
}
