import { send, sql } from '@/db/index'
import { isInTransaction, type ServiceContext } from '../context'
import { processWide } from '../process'

/** After so many starts of this process, there is something to count. */
const COUNTED_AT = [50, 500, 5_000]

const state = () => processWide<{ starts: number }>('runs.young', () => ({ starts: 0 }))

/**
 * Has Postgres count the rows of a new database soon after its first runs, rather than within a minute. Until then it
 * thinks that all indexes cost the same, and may read all of a tenant's runs to find one. While the tables fit into a few
 * pages it reads them whole, and goes on doing so as they grow, until they are counted again. A failure does no harm.
 */
export function noteStart(ctx: ServiceContext): void {
  if (isInTransaction(ctx)) return
  const starts = ++state().starts
  if (!COUNTED_AT.includes(starts)) return
  countRows(ctx, starts).catch((err: unknown) => ctx.log.debug({ err }, 'the tables of runs could not be analyzed'))
}

async function countRows({ db }: ServiceContext, starts: number): Promise<void> {
  const [table] = await send<{ grown: boolean }>(
    db,
    sql`select reltuples < ${starts} as grown from pg_class where oid = 'runs'::regclass`,
  )
  if (table?.grown) await send(db, sql`analyze runs, walks, step_records, pauses, outbox, engine.jobs`)
}
