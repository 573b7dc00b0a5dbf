import { type SQL, sql } from 'drizzle-orm'
import type { RunData } from '../server/definition/run'

/**
 * SQL for the complete data of a row.
 * @param row a row of `runs`, or of `walks` whose run is `run`
 */
export function wholeData(row: string, run: { tenant: string; id: string; input: string | null }): string {
  const fromInput = run.input === null ? 'null' : `${run.input} -> ref.key`
  return `case when ${row}.data_refs is null then ${row}.data else (
    select coalesce(jsonb_object_agg(ref.key,
      case when ref.value ? 'stepId' then written.delta -> ref.key else ${fromInput} end), '{}')
    from jsonb_each(${row}.data_refs) ref
    left join step_records written on written.tenant_id = ${run.tenant} and written.run_id = ${run.id}
      and written.branch = ref.value->>'branch' and written.step_id = ref.value->>'stepId'
      and written.visit = (ref.value->>'visit')::int) || ${row}.data end`
}

/** The data of a row of `runs`. */
export const RUN_DATA: SQL<RunData> = sql.raw(
  `(${wholeData('runs', { tenant: 'runs.tenant_id', id: 'runs.id', input: 'runs.input' })})`,
) as SQL<RunData>

/** Approximate stored size of a run's data, computed without reading the data: Postgres compresses large values. */
export const RUN_DATA_BYTES = `(coalesce(pg_column_size(runs.data), 0)
  + coalesce((select sum((ref.value->>'bytes')::int) / 4 from jsonb_each(runs.data_refs) ref), 0))`
