import { and, eq, max, sql } from 'drizzle-orm'
import { workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext } from '../../context'

// The API's versions count saves. People see the number of publications so far; drafts have no number.

/** The number of a run's version, as a column of a query of `runs`; null for a draft. */
export const NUMBER_OF_RUN = numberAt('runs.workflow_id', 'runs.workflow_version', 'runs.tenant_id')

/** The number of the published version, as a column of a query of `workflows`; null if none is published. */
export const PUBLISHED_NUMBER = numberAt('workflows.id', 'workflows.published_version', 'workflows.tenant_id')

function numberAt(workflowId: string, version: string, tenantId: string) {
  return sql<number | null>`(select numbered.number from ${workflowVersions} numbered
    where numbered.tenant_id = ${sql.raw(tenantId)} and numbered.workflow_id = ${sql.raw(workflowId)}
      and numbered.version = ${sql.raw(version)})`
}

export interface OneOf {
  workflowId: string
  version: number
}

/** The numbers of versions; null for drafts and missing versions. */
export async function numbersOf(
  ctx: ServiceContext,
  versions: readonly OneOf[],
): Promise<(workflowId: string, version: number) => number | null> {
  if (versions.length === 0) return () => null
  const wanted = JSON.stringify(versions.map(({ workflowId, version }) => ({ id: workflowId, version })))
  const rows = await ctx.db.execute<{ workflowId: string; version: number; number: number }>(sql`
    select distinct v.workflow_id as "workflowId", v.version, v.number
    from json_to_recordset(${wanted}::text::json) as t(id text, version int)
    join ${workflowVersions} v on v.tenant_id = ${ctx.tenantId} and v.workflow_id = t.id and v.version = t.version
    where v.number is not null`)
  const numbers = new Map(rows.map((row) => [`${row.workflowId}@${row.version}`, row.number]))
  return (workflowId, version) => numbers.get(`${workflowId}@${version}`) ?? null
}

/** The number of the next version to be published. */
export async function nextNumber(ctx: ServiceContext, workflowId: string): Promise<number> {
  const { tenantId, workflowId: of, number } = workflowVersions
  const [last] = await ctx.db
    .select({ number: max(number) })
    .from(workflowVersions)
    .where(and(eq(tenantId, ctx.tenantId), eq(of, workflowId)))
  return (last?.number ?? 0) + 1
}
