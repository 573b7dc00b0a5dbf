import { and, desc, eq, sql } from 'drizzle-orm'
import { runMoves } from '@/db/schema/moves'
import { pauses } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import type { AskedBefore } from '../../definition/run'
import { changesOf, type QuestionPart } from '../../runs/moves/changes'
import type { Asked } from '../../steps/define-step'
import { numbersOf } from '../workflows/numbers'

/** A move of the run that had an open task ask something else. */
export interface AskedAgain {
  /** The version since which it asks what it asks now, as shown to people; null for a draft. */
  version: number | null
  at: string
  what: QuestionPart[]
}

/** Whether the question of a pause changed with a move. The query must join `pauses`. */
const ofPause = sql`exists (
  select from json_array_elements(${runMoves.asked}) one where one->>'pauseId' = ${pauses.id})`

/** The version since which an open task asks what it asks now, as a column of a query of `pauses`; null if it was not asked again. */
export const askedAgainSince = sql<number | null>`case when ${pauses.answeredAt} is null then (
  select v.number from ${runMoves} join workflow_versions v on v.tenant_id = ${runMoves.tenantId}
    and v.workflow_id = ${runMoves.workflowId} and v.version = ${runMoves.toVersion}
  where ${runMoves.tenantId} = ${pauses.tenantId} and ${runMoves.runId} = ${pauses.runId} and ${ofPause}
  order by ${runMoves.n} desc limit 1) end`

/** Null if an open task asks what it always did. */
export async function readAskedAgain(
  ctx: ServiceContext,
  pause: typeof pauses.$inferSelect,
): Promise<AskedAgain | null> {
  if (pause.answeredAt) return null
  const { tenantId, runId } = pause
  const [move] = await ctx.db
    .select({
      workflowId: runMoves.workflowId,
      version: runMoves.toVersion,
      movedAt: runMoves.movedAt,
      before: sql<AskedBefore>`(select one from json_array_elements(${runMoves.asked}) one
        where one->>'pauseId' = ${pause.id} limit 1)`,
    })
    .from(runMoves)
    .innerJoin(
      pauses,
      and(eq(pauses.tenantId, runMoves.tenantId), eq(pauses.runId, runMoves.runId), eq(pauses.id, pause.id)),
    )
    .where(and(eq(runMoves.tenantId, tenantId), eq(runMoves.runId, runId), ofPause))
    .orderBy(desc(runMoves.n))
    .limit(1)
  if (!move) return null
  const numberOf = await numbersOf(ctx, [move])
  const { signal, dueAt } = move.before
  const before: Asked = { signal, ...(dueAt === null ? {} : { dueAt: new Date(dueAt) }) }
  const now: Asked = { signal: pause.signal, ...(pause.dueAt === null ? {} : { dueAt: pause.dueAt }) }
  return {
    version: numberOf(move.workflowId, move.version),
    at: move.movedAt.toISOString(),
    what: changesOf(before, now),
  }
}
