import { sql } from 'drizzle-orm'
import { pauses } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { runOf } from './counts'

/** Reads the oldest open tasks only, so that a flood of them costs no more. */
const MAX = 5_000

export interface WaitingCount {
  workflowId: string
  stepId: string
  /** The day they began to wait. */
  day: string
  count: number
  since: string
}

/** The waiting tasks, by step and day. */
export async function readWaiting(ctx: ServiceContext, workflowId: string | undefined): Promise<WaitingCount[]> {
  const rows = await ctx.db.execute(sql`
    select r.workflow_id, p.step_id, (p.created_at at time zone 'UTC')::date::text as day, count(*)::int as count,
      min(p.created_at) as since
    from (
      select run_id, step_id, created_at from ${pauses}
      where tenant_id = ${ctx.tenantId} and answered_at is null and signal is not null
      order by created_at limit ${MAX}
    ) p cross join lateral (${runOf(ctx, sql`p.run_id`, workflowId)}) r
    group by 1, 2, 3`)
  return rows.map((row) => ({
    workflowId: String(row.workflow_id),
    stepId: String(row.step_id),
    day: String(row.day),
    count: Number(row.count),
    since: new Date(String(row.since)).toISOString(),
  }))
}
