import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { stepRecords } from '@/db/schema/runs'
import { CallPlace, readPlace } from '../agents/call-place'
import { requireTurn } from '../agents/get-turn'
import { readCalls, type ShownCall } from '../agents/journal/shown'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { getRunRow } from '../run-store/find-run'
import { noSuchStep } from './no-such-step'

/** The calls of an agent in a visit, whose record is `seq`, or in a turn. */
export const ReadCalls = z.union([
  z.object({ runId: z.string(), seq: z.number().int().min(0) }),
  z.object({ agentId: z.string(), turnId: z.string() }),
])
export type ReadCalls = z.input<typeof ReadCalls>

/** One of them. */
export const ReadCall = z.object({ of: ReadCalls, call: CallPlace })
export type ReadCall = z.input<typeof ReadCall>

/** Whether a turn is that of the visit `s`. */
export function isOfVisit(turn: 't' | 'p'): SQL {
  const t = sql.raw(turn)
  return sql`${t}.tenant_id = s.tenant_id and ${t}.run_id = s.run_id and ${t}.branch = s.branch
        and ${t}.step_id = s.step_id and ${t}.visit = s.visit`
}

/**
 * One call of an agent, masked.
 * @throws AppError RUN_NOT_FOUND, TURN_NOT_FOUND, also when there is no such call
 */
export async function findCall(ctx: ServiceContext, { of, call: place }: ReadCall): Promise<ShownCall> {
  const { below, seq } = readPlace(place)
  const which = 'turnId' in of ? sql`t.id = ${(await requireTurn(ctx, of)).id + below}` : ofVisit(of, below)
  const [call] = (await readCalls(ctx, sql`${which} and c.seq = ${seq}`, { after: 0, limit: 1 })).calls
  if (call) return call
  if ('turnId' in of) throw new AppError('TURN_NOT_FOUND')
  await getRunRow(ctx, of.runId)
  throw noSuchStep()
}

function ofVisit({ runId, seq }: Extract<ReadCalls, { seq: number }>, below: string): SQL {
  return sql`t.run_id = ${runId} and t.id = p.id || ${below}::text and exists (
    select from ${stepRecords} s where ${isOfVisit('p')} and s.seq = ${seq})`
}
