import { sql } from 'drizzle-orm'
import { processWide } from '@/db/process-wide'
import { isInTransaction, type ServiceContext } from '../../context'

/** Counts the rows once this process has written this many rows of a table. */
const COUNTED_AT = { runs: [50, 500, 5_000], pauses: [500, 5_000] }
const COUNTED = ['runs', 'walks', 'step_records', 'pauses', 'outbox', 'engine.jobs']
/**
 * Tables with fewer rows are not counted. Postgres would believe that such a table stays small, and read all of an
 * index to find a row; it assumes a few pages for a table that was never counted.
 */
const FEWEST_ROWS = 50

type Table = keyof typeof COUNTED_AT

const written = () => processWide<Record<Table, number>>('runs.young', () => ({ runs: 0, pauses: 0 }))

/**
 * Call for each row written. Makes Postgres count the rows of a new database soon after its first runs, rather than
 * within a minute. Until then it assumes that all indexes cost the same, and may read all of a tenant's runs to find
 * one. While the tables fit into a few pages it reads them whole, and continues to as they grow, until they are counted
 * again. A failure does no harm.
 */
export function countInsert(ctx: ServiceContext, table: Table): void {
  if (isInTransaction(ctx)) return
  const rows = ++written()[table]
  if (!COUNTED_AT[table].includes(rows)) return
  countRows(ctx, table, rows).catch((err: unknown) =>
    ctx.log.debug({ err }, 'the tables of runs could not be analyzed'),
  )
}

async function countRows({ db }: ServiceContext, table: Table, rows: number): Promise<void> {
  const [known] = await db.execute<{ grown: boolean }>(
    sql`select reltuples < ${rows} as grown from pg_class where oid = ${table}::regclass`,
  )
  if (!known?.grown) return
  const ifFilled = (name: string) =>
    sql`select ${name}::text as name where exists (select from ${sql.raw(name)} offset ${FEWEST_ROWS - 1})`
  const tables = await db.execute<{ name: string }>(sql.join(COUNTED.map(ifFilled), sql` union all `))
  if (tables.length > 0) await db.execute(sql.raw(`analyze ${tables.map(({ name }) => name).join()}`))
}
