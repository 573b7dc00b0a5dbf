import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { authorize } from '../auth/policy'
import { mayReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { largeRead } from '../large-reads'
import { parseInput } from '../parse'
import { DEFAULT_PAGE } from '../query/values'
import { CALL_PAGE, maskersOf, readCalls, withHandOvers } from './journal/shown'
import { presentAnswer, presentTurn, type RecordedTurn, readRecordedTurns } from './recorded-turns'

/** The query string. */
export const ReadTurn = z.object(CALL_PAGE)

/**
 * A turn of an agent, with a page of its calls, and the answer that its caller got of invoke or chat.
 * @throws AppError TURN_NOT_FOUND, INVALID_INPUT, UNAVAILABLE
 */
export async function getTurn(ctx: ServiceContext, ids: { agentId: string; turnId: string }, query: unknown) {
  authorize(ctx, 'agent:read')
  authorize(ctx, 'run:read')
  const { after = 0, limit = DEFAULT_PAGE } = parseInput(ReadTurn, query)
  const turn = await requireTurn(ctx, ids)
  const { turnId } = ids
  const { calls, next } = await largeRead(ctx, (reading) => readCalls(reading, withHandOvers(turnId), { after, limit }))
  const of = { turnId, runId: turn.runId }
  const answer = presentAnswer(turn)
  const shown = answer && (await maskersOf(ctx, [of]))(of).json(answer)
  return { ...presentTurn(turn), answer: shown, calls, next: next === null ? null : String(next) }
}

/** @throws AppError TURN_NOT_FOUND, also for one that the caller may not read */
export async function requireTurn(
  ctx: ServiceContext,
  { agentId, turnId }: { agentId: string; turnId: string },
): Promise<RecordedTurn> {
  const known = isId(agentId) && isId(turnId) && mayReach(ctx, 'agent', agentId)
  const [turn] = known ? await readRecordedTurns(ctx, sql`t.id = ${turnId} and t.agent_id = ${agentId}`, 1) : []
  if (!turn) throw new AppError('TURN_NOT_FOUND')
  return turn
}
