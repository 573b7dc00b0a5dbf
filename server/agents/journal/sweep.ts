import { type SQL, sql } from 'drizzle-orm'
import { agentTurns } from '@/db/schema/turns'
import type { ServiceContext, Sweep } from '../../context'

/** How long turns outside of runs are kept; their threads keep what was said. */
const KEEP_DAYS = 30
const BATCH = 200

/**
 * The streamed turns whose processes died, for a run to continue them. The other ones have failed: only a repeat of the
 * request could ask for them.
 */
export async function sweepHeldTurns({ db, now }: Sweep): Promise<{ tenantId: string; id: string }[]> {
  const at = sql`${now().toISOString()}::timestamptz`
  const dead = sql`run_id is null and state = 'working' and leased_until <= ${at}`
  await db.execute(sql`
    update ${agentTurns} set ${lost(now())} where ${dead} and (request->>'streams' is null or leased_until <= ${at} - interval '1 hour')`)
  const streamed = await db.execute<{ tenantId: string; id: string }>(sql`
    select tenant_id as "tenantId", id from ${agentTurns} where ${dead} and request->>'streams' is not null
    order by leased_until limit ${BATCH}`)
  return [...streamed]
}

function lost(at: Date): SQL {
  return sql`state = 'failed', error_code = 'WORKER_LOST', owner = null, leased_until = null,
      ended_at = ${at.toISOString()}::timestamptz`
}

/** Notes that nothing can continue a turn. */
export async function giveUpTurn({ db, tenantId, now }: ServiceContext, id: string): Promise<void> {
  await db.execute(sql`
    update ${agentTurns} set ${lost(now())}
    where tenant_id = ${tenantId} and id = ${id} and run_id is null and state = 'working'`)
}

/** Deletes turns that are too old, with their calls. A repeat counts for a day. */
export async function deleteOldTurns({ db, now }: Sweep): Promise<void> {
  const yesterday = new Date(now().getTime() - 86_400_000).toISOString()
  await db.execute(sql`
    update ${agentTurns} set key = null where key is not null and started_at < ${yesterday}::timestamptz`)
  const before = new Date(now().getTime() - KEEP_DAYS * 86_400_000).toISOString()
  await db.execute(sql`
    delete from ${agentTurns} where run_id is null and started_at < ${before}::timestamptz and ctid = any(array(
      select ctid from ${agentTurns} where run_id is null and started_at < ${before}::timestamptz limit 1000))`)
}
