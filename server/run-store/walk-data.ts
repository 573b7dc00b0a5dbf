import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { runs, type stepRecords, walks } from '@/db/schema/runs'
import type { ServiceContext } from '../context'
import { branchesAround } from '../definition/branches'
import { fieldsInStoredOrder, type JsonObject } from '../definition/json'
import type { DataRefs, RunData } from '../definition/run'
import { putTogether, type StoredData } from './large-values'
import type { Written } from './run-data'

/** A run without its values, which may be large. */
export type RunRow = Omit<typeof runs.$inferSelect, 'input' | 'smallData' | 'result'>
export type StepRecordRow = typeof stepRecords.$inferSelect

/** The data that a walk can refer to. */
export interface WalkData {
  /** The run's data, overlaid with the fields that the branches around the walk and the walk itself have written. */
  data: JsonObject
  /** References to its fields that are stored elsewhere. */
  refs: DataRefs
  /** The fields that the walk itself has written, if it is a branch. Null otherwise: then `data` is the run's. */
  own: Written | null
}

const { input: _input, smallData: _data, result: _result, ...columns } = getTableColumns(runs)

export const RUN_COLUMNS = columns

/**
 * The fields that a branch and the branches around it have written, outermost first; null for a walk that is no branch.
 */
export function ownsOf({ tenantId, runId, branch }: { tenantId: string; runId: string; branch: string }) {
  const around = branchesAround(branch)
  const owns: SQL =
    around.length === 0
      ? sql`null`
      : sql`(
        select json_agg(json_build_object('small', a.data, 'refs', a.data_refs) order by length(a.branch))
        from ${walks} a
        where a.tenant_id = ${tenantId} and a.run_id = ${runId}
          and a.branch in (select jsonb_array_elements_text(${JSON.stringify(around)}::jsonb)))`
  return sql<StoredData[] | null>`${owns}`
}

/** The data of a walk, read from storage. */
export async function walkData(
  ctx: ServiceContext,
  of: { tenantId: string; runId: string },
  { run, small, owns }: { run: Pick<RunRow, 'dataRefs'>; small: RunData; owns: StoredData[] | null },
): Promise<WalkData> {
  const [whole, ...written] = await putTogether(ctx, of, [{ small, refs: run.dataRefs }, ...(owns ?? [])])
  return dataOf(whole ?? { data: small, refs: {} }, owns && written)
}

/**
 * The data of a walk: the run's data, overlaid with the fields that the branches around it and the walk itself have
 * written.
 */
export function dataOf({ data, refs }: Written, owns: Written[] | null): WalkData {
  if (owns === null) return { data, refs, own: null }
  // A field that was written again is no longer at its old place.
  const merged = owns.reduce<Written>(
    (around, own) => ({
      data: { ...around.data, ...own.data },
      refs: {
        ...Object.fromEntries(Object.entries(around.refs).filter(([name]) => !Object.hasOwn(own.data, name))),
        ...own.refs,
      },
    }),
    { data, refs },
  )
  return { data: fieldsInStoredOrder(merged.data), refs: merged.refs, own: owns.at(-1) ?? { data: {}, refs: {} } }
}
