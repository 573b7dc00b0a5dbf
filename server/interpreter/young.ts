import { send, sql } from '@/db/index'
import { isInTransaction, type ServiceContext } from '../context'
import { processWide } from '../process'

/** After so many starts of this process, there is something to count. */
const STARTS = 50

const state = () => processWide<{ starts: number }>('runs.young', () => ({ starts: 0 }))

/**
 * Has Postgres count the rows of a new database soon after its first runs, rather than within a minute. Until then it
 * thinks that all indexes cost the same, and may read all of a tenant's runs to find one. Once is enough, and a failure
 * does no harm.
 */
export function noteStart(ctx: ServiceContext): void {
  const young = state()
  if (isInTransaction(ctx) || ++young.starts !== STARTS) return
  countRows(ctx).catch((err: unknown) => ctx.log.debug({ err }, 'the tables of runs could not be analyzed'))
}

async function countRows({ db }: ServiceContext): Promise<void> {
  const [table] = await send<{ counted: boolean }>(
    db,
    sql`select reltuples >= 0 as counted from pg_class where oid = 'runs'::regclass`,
  )
  if (!table?.counted) await send(db, sql`analyze runs, walks, step_records, pauses, outbox, engine.jobs`)
}
