import type { Sql } from '@/db/index'
import { FORGED } from './invariants/finality'

/** Copies a run with all its rows; the copies' ids end in `C1`, `C2` and so on. */
export async function copyRun(sql: Sql, runId: string, copies: number): Promise<void> {
  for (const [table, id] of [
    ['runs', 'id'],
    ['walks', 'run_id'],
    ['step_records', 'run_id'],
    ['pauses', 'run_id'],
  ] as const) {
    const columns = await sql<{ name: string }[]>`
      select column_name as name from information_schema.columns
      where table_schema = 'public' and table_name = ${table} and is_identity = 'NO'`
    const names = columns.map(({ name }) => `"${name}"`)
    const values = columns.map(({ name }) => (name === id ? `o."${name}" || 'C' || n` : `o."${name}"`))
    await sql.unsafe(
      `insert into ${table} (${names.join(', ')})
       select ${values.join(', ')} from ${table} o, generate_series(1, $1::int) n where o."${id}" = $2
       ${table === 'step_records' ? 'order by n, o.seq' : ''}`,
      [copies, runId],
    )
  }
  // The checker takes minutes for this many.
  await sql.unsafe(`insert into ${FORGED} (run_id) select $1 || 'C' || n from generate_series(1, $2::int) n`, [
    runId,
    copies,
  ])
  await sql`analyze`
}
