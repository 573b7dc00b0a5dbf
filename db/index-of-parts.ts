import type postgres from 'postgres'
import { createdIndex, droppedIndex, isValid } from './index-statements'

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
  const dropped = droppedIndex(statement)
  if (dropped !== null) {
    if (!(await isPartitioned(sql, dropped))) return false
    await briefly(`drop index "${dropped}"`)
    return true
  }
  const created = createdIndex(statement)
  if (!created || !(await isPartitioned(sql, created.table))) return false
  const { name, table, rest } = created
  const leaves = await sql<{ oid: number; leaf: string }[]>`
    select relid::oid::int8::float8 as oid, relid::regclass::text as leaf
    from pg_partition_tree(${`"${table}"`}::regclass) where isleaf order by 1`
  // The number, because a name may be as long as that of its partition already.
  for (const { oid, leaf } of leaves) await buildOne(sql, `${name}_${oid}`, leaf, rest)
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
  if (await isValid(sql, name)) return
  await sql.unsafe(`drop index concurrently if exists "${name}"`)
  await sql.unsafe(`create index concurrently "${name}" on ${leaf} ${rest}`)
}
