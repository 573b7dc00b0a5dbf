import { type AnyColumn, type SQL, sql } from 'drizzle-orm'

/** Sort by this first, so that tenants take turns: the first row of each tenant precedes the second row of any. */
export function fairOrder(tenantId: AnyColumn, by: AnyColumn): SQL {
  return sql`row_number() over (partition by ${tenantId} order by ${by})`
}
