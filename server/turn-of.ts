import { type AnyColumn, type SQL, sql } from 'drizzle-orm'

/** Sorts by this first for turns: however much there is of one tenant, the first of each of the others comes first. */
export function turnOf(tenantId: AnyColumn, by: AnyColumn): SQL {
  return sql`row_number() over (partition by ${tenantId} order by ${by})`
}
