import type postgres from 'postgres'

const CREATE = /^(?:--.*\n|\s)*CREATE INDEX CONCURRENTLY "([^"]+)" ON "([^"]+)" (.+?);?\s*$/is
const DROP = /^(?:--.*\n|\s)*DROP INDEX CONCURRENTLY IF EXISTS "([^"]+)"/i

/**
 * Does what a statement about an index says where its table is partitioned, because Postgres then refuses `concurrently`.
 * The partitions get the index one by one while others write. The table's own takes those over, so it reads no row.
 * @param briefly runs a statement that waits for locks only so long
 * @returns false if nothing about the statement is partitioned
 */
export async function onPartitions(
  sql: postgres.Sql,
  statement: string,
  briefly: (statement: string) => Promise<unknown>,
): Promise<boolean> {
  const [, dropped] = DROP.exec(statement) ?? []
  if (dropped !== undefined) {
    if (!(await isPartitioned(sql, dropped))) return false
    await briefly(`drop index "${dropped}"`)
    return true
  }
  const [, name, table, rest] = CREATE.exec(statement) ?? []
  if (name === undefined || table === undefined || !(await isPartitioned(sql, table))) return false
  const leaves = await sql<{ oid: number; leaf: string }[]>`
    select relid::oid::int8::float8 as oid, relid::regclass::text as leaf
    from pg_partition_tree(${`"${table}"`}::regclass) where isleaf order by 1`
  // The number, because a name may be as long as that of its partition already.
  for (const { oid, leaf } of leaves) await buildOne(sql, `${name}_${oid}`, leaf, rest ?? '')
  await briefly(`create index "${name}" on "${table}" ${rest}`)
  return true
}

/** Of a table or an index. */
async function isPartitioned(sql: postgres.Sql, name: string): Promise<boolean> {
  const [found] = await sql`select relkind in ('p', 'I') as parts from pg_class where oid = to_regclass(${`"${name}"`})`
  return found?.parts === true
}

/** What an earlier attempt has built stays. What it broke off is built again. */
async function buildOne(sql: postgres.Sql, name: string, leaf: string, rest: string): Promise<void> {
  const [found] = await sql`select indisvalid as valid from pg_index where indexrelid = to_regclass(${`"${name}"`})`
  if (found?.valid) return
  if (found) await sql.unsafe(`drop index concurrently "${name}"`)
  await sql.unsafe(`create index concurrently "${name}" on ${leaf} ${rest}`)
}
