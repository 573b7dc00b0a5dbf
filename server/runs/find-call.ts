import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { stepRecords } from '@/db/schema/runs'
import { readCalls, type ShownCall } from '../agents/journal/shown'
import type { ServiceContext } from '../context'
import { getRunRow } from '../run-store/find-run'
import { noSuchStep } from './no-such-step'

/** A call of an agent: `seq` is the record of its visit, and `call` its number in the turn. */
export const ReadCall = z.object({
  runId: z.string(),
  seq: z.number().int().min(0),
  call: z.number().int().min(1),
})
export type ReadCall = z.input<typeof ReadCall>

/** The turn `t` of the visit `s`. */
export const TURN_OF_VISIT = sql`t.tenant_id = s.tenant_id and t.run_id = s.run_id and t.branch = s.branch
        and t.step_id = s.step_id and t.visit = s.visit`

/**
 * One call of the agent in a visit, masked.
 * @throws AppError RUN_NOT_FOUND, also when there is no such call
 */
export async function findCall(ctx: ServiceContext, { runId, seq, call: number }: ReadCall): Promise<ShownCall> {
  const where = sql`t.run_id = ${runId} and c.seq = ${number} and exists (
    select from ${stepRecords} s where ${TURN_OF_VISIT} and s.seq = ${seq})`
  const [call] = (await readCalls(ctx, where, { after: 0, limit: 1 })).calls
  if (call) return call
  await getRunRow(ctx, runId)
  throw noSuchStep()
}
