import { sql } from 'drizzle-orm'
import { pauses, runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'

/** Looks at the oldest open tasks only, so that a flood of them costs no more. */
const MOST = 5_000

/** The tasks that wait now, by workflow and step. */
export async function readWaiting(ctx: ServiceContext, workflowId: string | undefined) {
  const rows = await ctx.db.execute(sql`
    select r.workflow_id, p.step_id, count(*)::int as count, min(p.created_at) as since
    from (
      select * from ${pauses} where tenant_id = ${ctx.tenantId} and answered_at is null and signal is not null
      order by created_at limit ${MOST}
    ) p join ${runs} r on r.tenant_id = p.tenant_id and r.id = p.run_id
    where r.started_via <> 'test' ${workflowId === undefined ? sql`` : sql`and r.workflow_id = ${workflowId}`}
    group by 1, 2`)
  return rows.map((row) => ({
    workflowId: String(row.workflow_id),
    stepId: String(row.step_id),
    count: Number(row.count),
    since: new Date(String(row.since)).toISOString(),
  }))
}
