import { and, isNotNull, isNull, lt } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { type Sweep, systemContext, withTransaction } from '../../context'
import { env } from '../../env'
import { definitionOf } from '../../run-store/definition'
import { holdRun } from '../../run-store/held'
import { carryOutCancel } from '../stop/cancel'

const SETTLED_MS = 5_000
/** How long after the grace period a process may take to notice a cancel. After that, it counts as dead. */
const NOTICED_MS = 20_000
const BATCH = 200

/**
 * Continues cancels that are stuck because the process working on the run died, or its message was lost. Well after the
 * grace period, it no longer waits for running steps; later results are rejected.
 */
export async function sweepCancels({ db, log, now }: Sweep): Promise<number> {
  const due = await db
    .select({ tenantId: runs.tenantId, runId: runs.id })
    .from(runs)
    .where(
      and(
        isNotNull(runs.cancelRequestedAt),
        isNull(runs.endTime),
        isNull(runs.cleanupStartedAt),
        lt(runs.cancelRequestedAt, new Date(now().getTime() - SETTLED_MS)),
      ),
    )
    .limit(BATCH)
  let settled = 0
  for (const { tenantId, runId } of due) {
    const ctx = systemContext({ tenantId, db, log, now })
    const how = await withTransaction(ctx, async (tx) => {
      const { held, run } = await holdRun(tx, runId)
      if (run.endTime || run.cleanupStartedAt || !run.cancelRequestedAt) return 'waiting'
      const definition = await definitionOf(tx, run)
      const force = run.cancelRequestedAt.getTime() + env().CANCEL_GRACE_MS + NOTICED_MS < now().getTime()
      return carryOutCancel(held, { run, definition, written: null }, null, { force })
    })
    if (how === 'waiting') continue
    settled += 1
    log.warn({ tenantId, runId, how }, 'a cancel was stuck; continued it')
  }
  return settled
}
