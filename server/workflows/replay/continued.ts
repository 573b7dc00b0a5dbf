import { type SQL, sql } from 'drizzle-orm'
import { runMoves } from '@/db/schema/moves'
import { runs, stepRecords } from '@/db/schema/runs'

/**
 * Whether steps of the run `r` ran on another version, or on one that is no longer known: it was moved, or it continued
 * a run of that version.
 */
export function continuedElsewhere(tenantId: string): SQL {
  const version = (run: SQL) => sql`case when not exists (select 1 from ${runMoves} m
    where m.tenant_id = ${tenantId} and m.run_id = ${run}.id) then ${run}.workflow_version end`
  // Copied records lie before the run.
  const continues = (run: SQL) => sql`case when ${run}.retry_of is not null and exists (select 1 from ${stepRecords} s
    where s.tenant_id = ${tenantId} and s.run_id = ${run}.id and s.start_time < ${run}.start_time) then ${run}.retry_of end`
  return sql`exists (
    with recursive steps_of(version, before) as (
      select ${version(sql`r`)}, ${continues(sql`r`)}
      union all
      select ${version(sql`o`)}, ${continues(sql`o`)} from steps_of
      left join ${runs} o on o.tenant_id = ${tenantId} and o.id = steps_of.before where steps_of.before is not null)
    select 1 from steps_of where version is distinct from r.workflow_version)`
}
