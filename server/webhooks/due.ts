import { type SQL, sql } from 'drizzle-orm'

/** A delivery `d` that may be sent now: it is due, and no earlier one of its run is pending. */
export function isDue(now: Date): SQL {
  return sql`d.status = 'pending' and d.due_at <= ${now.toISOString()}::timestamptz and not exists (
    select from webhook_deliveries before
    where before.tenant_id = d.tenant_id and before.endpoint_id = d.endpoint_id and before.run_id = d.run_id
      and before.status = 'pending' and before.seq < d.seq)`
}
