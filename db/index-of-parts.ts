import type postgres from 'postgres'
import { createdIndex, droppedIndex, isValid } from './index-statements'

/**
 * Runs an index statement on a partitioned table, where Postgres rejects `concurrently`. Each partition gets the index
 * in turn while others write. The table's own index then adopts those, so it reads no row.
 * @param briefly runs a statement that waits only briefly for locks
 * @returns false if the statement concerns no partitioned table
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
  // By number, because a partition's name may already have the maximum length.
  for (const { oid, leaf } of leaves) await buildOne(sql, `${name}_${oid}`, leaf, rest)
  await briefly(`create index "${name}" on "${table}" ${rest}`)
  return true
}

async function isPartitioned(sql: postgres.Sql, name: string): Promise<boolean> {
  const [found] = await sql`select relkind in ('p', 'I') as parts from pg_class where oid = to_regclass(${`"${name}"`})`
  return found?.parts === true
}

/** A valid index of an earlier attempt stays. An invalid one is rebuilt. */
async function buildOne(sql: postgres.Sql, name: string, leaf: string, rest: string): Promise<void> {
  if (await isValid(sql, name)) return
  await sql.unsafe(`drop index concurrently if exists "${name}"`)
  await sql.unsafe(`create index concurrently "${name}" on ${leaf} ${rest}`)
}
