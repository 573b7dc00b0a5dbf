import { type Column, getTableColumns, Subquery, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'

/**
 * The run that a row belongs to, for `innerJoinLateral`: each is looked up by its key, in its partition alone. In a plain
 * join with tables divided by time, Postgres expects a lookup to cost one descent for each month, and rather reads all
 * runs of all workspaces. For few rows, or a page of them; `offset 0` is what keeps it from becoming a plain join.
 */
export function runOf({ tenantId, runId }: { tenantId: Column; runId: Column }) {
  const row = sql`select * from ${runs} r where r.tenant_id = ${tenantId} and r.id = ${runId} offset 0`
  return new Subquery(row, getTableColumns(runs), 'runs')
}
