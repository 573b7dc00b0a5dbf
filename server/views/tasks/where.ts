import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { pauses, runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'

/** The tenant's pauses that wait for a person; the query must join `runs`. */
export function openTasks(
  ctx: ServiceContext,
  { workflowId, type }: { workflowId?: string | undefined; type?: (typeof pauses.$inferSelect)['kind'] | undefined },
): SQL | undefined {
  return and(
    eq(pauses.tenantId, ctx.tenantId),
    isNull(pauses.answeredAt),
    // Written exactly as in the partial index.
    sql`${pauses.kind} <> 'timer'`,
    isNull(runs.endTime),
    workflowId === undefined ? undefined : eq(runs.workflowId, workflowId),
    type === undefined ? undefined : eq(pauses.kind, type),
  )
}

export const ofRun = and(eq(runs.tenantId, pauses.tenantId), eq(runs.id, pauses.runId))
