import { createHash } from 'node:crypto'
import type { Sql } from '@/db/index'

/** Excluded tables, in addition to columns that only record use: the product writes these on its own. */
const UNSTABLE = ['outbox', 'idempotency_keys']

/** A database's query, which never changes within a test file. */
const queries = new WeakMap<Sql, Promise<string>>()

/** A digest of all a tenant's rows, in every table with tenants. */
export async function fingerprint(sql: Sql, tenantId: string): Promise<string> {
  const known = queries.get(sql) ?? everythingOf(sql)
  queries.set(sql, known)
  const rows = await sql.unsafe<{ name: string; text: string }[]>(await known, [tenantId])
  const hash = createHash('sha256')
  for (const { name, text } of rows) hash.update(name).update(text).update('\n')
  return hash.digest('hex')
}

/** One query for all tables, because sweeps take a fingerprint twice per case. */
async function everythingOf(sql: Sql): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'tenant_id' and table_name <> all(${UNSTABLE}) order by 1`
  const each = tables.map(
    ({ name }) =>
      `select '${name}' as name, (to_jsonb(t) - 'last_used_at')::text as text from "${name}" t where tenant_id = $1`,
  )
  return `${each.join(' union all ')} order by 1, 2`
}

/** An unknown id of the same format. */
export function unlike(id: string): string {
  const last = id.at(-1) === '0' ? '1' : '0'
  return `${id.slice(0, -1)}${last}`
}
