import { and, desc, eq, ne, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import type { RunError } from '../../definition/run'
import { STATE_IS } from './filter'

/** How many of the workflow's latest failures to examine; the screen shows `500+`. */
const LATEST = 500

/** Counts other runs of the workflow that failed at the same step with the same code, among its latest failures. */
export async function countAlike(
  ctx: ServiceContext,
  run: { id: string; workflowId: string },
  { code, stepId }: RunError,
): Promise<{ count: number; more: boolean }> {
  const latest = ctx.db
    .select({ id: runs.id, code: sql`${runs.error}->>'code'`.as('code'), at: sql`${runs.error}->>'stepId'`.as('at') })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), eq(runs.workflowId, run.workflowId), STATE_IS.failed))
    .orderBy(desc(runs.startTime), desc(runs.id))
    .limit(LATEST)
    .as('latest')
  const [row] = await ctx.db
    .select({
      seen: sql<number>`count(*)::int`,
      alike: sql<number>`(count(*) filter (where ${ne(latest.id, run.id)} and ${latest.code} = ${code}
        and ${latest.at} is not distinct from ${stepId}::text))::int`,
    })
    .from(latest)
  return { count: row?.alike ?? 0, more: row?.seen === LATEST && row.alike > 0 }
}
