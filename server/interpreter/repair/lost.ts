import { and, eq, inArray, isNull, lt, type SQL, sql } from 'drizzle-orm'
import { pauses, runs, stepRecords, walks } from '@/db/schema/runs'
import { type Sweep, systemContext, withTransaction } from '../../context'
import { env } from '../../env'
import { fairOrder } from '../../query/fair-order'
import { LAST_ENDED } from '../../run-store/attempts'
import { runOf, walkIs, walkWaits } from '../../run-store/conditions'
import { holdRun } from '../../run-store/held'
import { stepTypes } from '../../steps/registry'
import { forgetRestarts } from '../write/marks'
import { NEW_EPOCH, requestWalk } from '../write/request'

/** A call that has been due for this long may be lost. */
const IDLE_MS = 50_000
/** Runs that start at about the same time may be called in any order. */
const APART_S = 10
const BATCH = 200

/**
 * Continues runs whose next call does not come although no process is working on them and they wait for nobody: an
 * Inngest server that has lost its state no longer knows them. It cannot be asked, and a long queue looks the same. So
 * require a sign that the queue of their tenant does not hold them: it called a run that started later, or it called
 * none at all. Once per walk: if the walk still does not move, `restartStuck` handles it.
 */
export async function sweepLost(sweep: Sweep): Promise<number> {
  if (env().engine === 'embedded') return 0
  const { db, log, now } = sweep
  const before = new Date(now().getTime() - IDLE_MS)
  await forgetRestarts(sweep)
  const idle = await db
    .select({ tenantId: walks.tenantId, runId: walks.runId, branch: walks.branch, since: walks.updatedAt })
    .from(walks)
    .innerJoinLateral(runOf(walks), isNull(runs.endTime))
    .where(isIdle(before))
    .orderBy(fairOrder(walks.tenantId, walks.updatedAt))
    .limit(BATCH)
  const called = await calledTenants(sweep, [...new Set(idle.map(({ tenantId }) => tenantId))], before)
  let continued = 0
  for (const { tenantId, runId, branch, since } of idle) {
    const overtakenBy = called.get(tenantId)
    if (overtakenBy && overtakenBy.getTime() < since.getTime() + APART_S * 1_000) continue
    const ctx = systemContext({ tenantId, db, log, now })
    continued += await withTransaction(ctx, async (tx) => {
      const { held, run } = await holdRun(tx, runId)
      // It may have moved between the query and the lock.
      const still = and(walkIs({ tenantId, runId, branch }), isIdle(before))
      const change = { ...NEW_EPOCH, restarts: sql`${walks.restarts} + 1` }
      const again = run.endTime ? null : await requestWalk(held, { tenantId, runId }, still, change)
      if (!again) return 0
      log.warn({ tenantId, runId, branch }, 'the engine does not call this run; it was requested again')
      return 1
    })
  }
  return continued
}

/** A call of the walk is due since `before`: it waits for no answer, no running attempt and no retry. */
function isIdle(before: Date): SQL | undefined {
  const at = sql`${before.toISOString()}::timestamptz`
  // Only these make attempts.
  const effects = stepTypes().flatMap(({ type, mode }) => (mode === 'effect' ? [type] : []))
  return and(
    inArray(walks.status, ['requested', 'walking']),
    lt(walks.updatedAt, before),
    eq(walks.restarts, 0),
    sql`not exists (
      select from ${pauses} p
      where p.tenant_id = ${walks.tenantId} and p.run_id = ${walks.runId} and p.branch = ${walks.branch}
        and ${walkWaits(sql`p.signal`)} and p.consumed_at is null and (p.answered_at is null or p.answered_at >= ${walks.updatedAt}))`,
    sql`not exists (
      select from ${stepRecords} s
      where s.tenant_id = ${walks.tenantId} and s.run_id = ${walks.runId} and s.branch = ${walks.branch}
        and (s.start_time >= ${at} or s.end_time >= ${at} or s.end_time is null and (
          (s.attempt > ${LAST_ENDED} and ${inArray(sql`s.step_type`, effects)})
          or (s.attempts->-1->>'endTime')::timestamptz
            + make_interval(secs => coalesce((s.attempts->-1->>'retryInMs')::bigint, 0) / 1000.0) >= ${at})))`,
  )
}

/** The tenants that the engine has called since `before`, each with the start of the latest run that it ever called. */
async function calledTenants({ db }: Sweep, tenants: string[], before: Date): Promise<Map<string, Date>> {
  const found = new Map<string, Date>()
  for (const tenantId of tenants) {
    const [row] = await db.execute<{ called: boolean; latest: string | null }>(sql`
      select
        exists (select from runs where tenant_id = ${tenantId} and end_time >= ${before.toISOString()}::timestamptz)
        or exists (
          select from runs r join step_records s on s.tenant_id = r.tenant_id and s.run_id = r.id
          where r.tenant_id = ${tenantId} and r.end_time is null and r.updated_at >= ${before.toISOString()}::timestamptz
            and s.start_time >= ${before.toISOString()}::timestamptz) as called,
        (select r.start_time from runs r join walks w on w.tenant_id = r.tenant_id and w.run_id = r.id
          where r.tenant_id = ${tenantId} and w.branch = 'main' and w.status <> 'requested'
          order by r.start_time desc limit 1)::text as latest`)
    if (row?.called) found.set(tenantId, row.latest === null ? new Date(0) : new Date(row.latest))
  }
  return found
}
