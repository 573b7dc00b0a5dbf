import { createHash } from 'node:crypto'
import type { Sql } from '@/db/index'

/** Besides what is noted of use alone, and what the product writes by itself. */
const UNSTABLE = ['outbox', 'idempotency_keys']

/** A digest of everything a tenant has, in every table that has tenants. */
export async function fingerprint(sql: Sql, tenantId: string): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'tenant_id' and table_name <> all(${UNSTABLE}) order by 1`
  const hash = createHash('sha256')
  for (const { name } of tables) {
    const rows = await sql<{ text: string }[]>`
      select (to_jsonb(t) - 'last_used_at')::text as text from ${sql(name)} t where tenant_id = ${tenantId} order by 1`
    hash.update(name).update(rows.map((row) => row.text).join('\n'))
  }
  return hash.digest('hex')
}

/** An id of the same shape that nobody has. */
export function unlike(id: string): string {
  const last = id.at(-1) === '0' ? '1' : '0'
  return `${id.slice(0, -1)}${last}`
}
