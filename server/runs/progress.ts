import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'
import { stepRecords } from '@/db/schema/runs'
import type { TransactionContext } from '../context'
import type { JsonObject } from '../definition/json'
import { MAIN_BRANCH } from '../interpreter/receipt'

/** Columns that a copied record does not share: its run, its position, and the number of its last change. */
const OWN_COLUMNS = new Set(['runId', 'seq', 'change'])

/** The records of a run's main path that count in a run that continues it: those done before a position. */
function keptBefore(tx: TransactionContext, runId: string, before: SQL): SQL {
  return sql`s.tenant_id = ${tx.tenantId} and s.run_id = ${runId} and s.branch = ${MAIN_BRANCH}
    and (s.status = 'completed' or s.handled) and s.seq < ${before}`
}

/** What the records before a position added to a run's data. */
export async function addedBefore(tx: TransactionContext, runId: string, before: SQL): Promise<JsonObject> {
  // In Postgres, because a loop may have left more than fits in memory here.
  const [merged] = await tx.db.execute<{ data: JsonObject | null }>(sql`
    select jsonb_object_agg(field.key, field.value order by s.seq) as data
    from ${stepRecords} s cross join lateral jsonb_each(s.delta) field
    where ${keptBefore(tx, runId, before)} and jsonb_typeof(s.delta) = 'object'`)
  return merged?.data ?? {}
}

/** Takes the columns from the schema, so that new ones are copied without a change here. */
export async function copyBefore(tx: TransactionContext, from: string, to: string, before: SQL): Promise<void> {
  const copied = Object.keys(getTableColumns(stepRecords)).filter((name) => !OWN_COLUMNS.has(name))
  const names = sql.raw(copied.map((name) => `"${toSnakeCase(name)}"`).join(', '))
  await tx.db.execute(sql`
    insert into ${stepRecords} (run_id, ${names})
    select ${to}, ${names} from ${stepRecords} s
    where ${keptBefore(tx, from, before)} order by s.seq`)
}
