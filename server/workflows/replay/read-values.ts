import { sql } from 'drizzle-orm'
import { wholeData } from '@/db/run-data'
import { runs, stepRecords } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import type { JsonObject } from '../../definition/json'
import { reachingTypes } from './read-facts'

interface ValuesRow extends Record<string, unknown> {
  data: JsonObject | null
  set: JsonObject[] | null
}

/** Values of fields that the facts of a run do not show: its data, what steps computed, and what others saved. */
export async function readValues(ctx: ServiceContext, runId: string): Promise<JsonObject[]> {
  const types = reachingTypes()
  const data = sql.raw(wholeData('r', { tenant: 'r.tenant_id', id: 'r.id', input: 'r.input' }))
  const [row] = await ctx.db.execute<ValuesRow>(sql`
    select (${data}) as data, (
      select json_agg(case when s.step_type in ${types}
          then jsonb_build_object(s.config ->> 'saveAs', s.delta -> (s.config ->> 'saveAs')) else s.delta end)
        from ${stepRecords} s where s.tenant_id = ${ctx.tenantId} and s.run_id = ${runId} and s.delta is not null
          and (s.step_type not in ${types} or s.delta ? (s.config ->> 'saveAs'))) as set
    from ${runs} r where r.tenant_id = ${ctx.tenantId} and r.id = ${runId}`)
  return [...(row?.data ? [row.data] : []), ...(row?.set ?? [])]
}
