import { and, desc, eq, sql } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import type { LoggedLine } from '../../definition/run'
import type { Masker } from '../../vault/mask'

/** How many of the last lines are shown with the failure; the step has all. */
const LAST = 5

export interface FailureLog {
  lines: LoggedLine[]
  /** How many lines the attempt wrote. */
  count: number
}

/** The console output of scripts in the last attempt of the failed step. */
export async function readFailureLog(
  ctx: ServiceContext,
  of: { id: string; error: { stepId?: string | null } | null },
  masker: Masker,
): Promise<FailureLog | null> {
  const stepId = of.error?.stepId
  if (!stepId) return null
  const [row] = await ctx.db
    .select({ logs: sql<LoggedLine[] | null>`${stepRecords.attempts}->-1->'logs'` })
    .from(stepRecords)
    .where(
      and(
        eq(stepRecords.tenantId, ctx.tenantId),
        eq(stepRecords.runId, of.id),
        eq(stepRecords.stepId, stepId),
        eq(stepRecords.status, 'failed'),
      ),
    )
    .orderBy(desc(stepRecords.seq))
    .limit(1)
  return lastLines(row?.logs ?? undefined, masker)
}

/** The last lines of an attempt, masked; null if it wrote none. */
export function lastLines(logs: LoggedLine[] | undefined, masker: Masker): FailureLog | null {
  return logs ? { lines: masker.json(logs.slice(-LAST)), count: logs.length } : null
}
