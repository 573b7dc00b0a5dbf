import { isNotNull, sql } from 'drizzle-orm'
import { tenants } from '@/db/schema/tenants'
import { type ServiceContext, type Sweep, systemContext } from '../context'

const DAY_MS = 24 * 60 * 60_000
const BATCH = 200
/** How long one sweep may take. The next one continues. */
const BUDGET_MS = 15_000

/**
 * Deletes the runs that their workspaces no longer retain, oldest first, a batch of each workspace in turn. Their
 * history is deleted with them; their files are left to `sweepFiles`.
 * @param count counts the days of a workspace for its insights; while it returns false it has not finished, and nothing
 * is deleted
 */
export async function deleteOldRuns(
  sweep: Sweep,
  count: (ctx: ServiceContext) => Promise<boolean>,
): Promise<{ deleted: number }> {
  const begun = performance.now()
  let left = await sweep.db
    .select({ id: tenants.id, days: tenants.keepRunsDays })
    .from(tenants)
    .where(isNotNull(tenants.keepRunsDays))
    .orderBy(sql`random()`)
  const deleted = new Map<string, number>()
  while (left.length > 0 && performance.now() - begun < BUDGET_MS) {
    const more: typeof left = []
    for (const tenant of left) {
      if (performance.now() - begun >= BUDGET_MS) break
      const runs = await deleteBatch(sweep, tenant.id, tenant.days ?? 0, count)
      if (runs > 0) deleted.set(tenant.id, (deleted.get(tenant.id) ?? 0) + runs)
      if (runs === BATCH) more.push(tenant)
    }
    left = more
  }
  for (const [tenantId, runs] of deleted) sweep.log.info({ tenantId, runs }, 'old runs deleted')
  return { deleted: [...deleted.values()].reduce((sum, runs) => sum + runs, 0) }
}

async function deleteBatch(
  { db, log, now }: Sweep,
  tenantId: string,
  days: number,
  count: (ctx: ServiceContext) => Promise<boolean>,
): Promise<number> {
  // Whole days, because insights count a day once it is over.
  const today = Math.floor(now().getTime() / DAY_MS) * DAY_MS
  const before = new Date(today - days * DAY_MS).toISOString()
  const old = sql`
    select r.tenant_id, r.id from runs r
    where r.tenant_id = ${tenantId} and r.end_time is not null and r.end_time < ${before}::timestamptz
      and not exists (
        select from webhook_deliveries d
        where d.tenant_id = r.tenant_id and d.run_id = r.id and d.status = 'pending')
    order by r.end_time limit ${BATCH}`
  const found = await db.execute(old)
  if (found.length === 0 || !(await count(systemContext({ tenantId, db, log, now })))) return 0
  // The delivery that started a run reveals as much as the run, and so does the delivery that it replays, unless that
  // one has a run of its own: then it is deleted with that. Replays that started no run show the replayed delivery, and
  // so need no search. Rows are looked up by key: a join takes these few for thousands, and would read the whole table.
  const gone = await db.execute(sql`
    with recursive gone as (
      delete from runs where (tenant_id, id) in (${old} for update of r skip locked) returning tenant_id, id),
    told as (
      select d.tenant_id, d.id, d.replay_of from gone
      join inbound_deliveries d on d.tenant_id = gone.tenant_id and d.run_id = gone.id
      union
      select d.tenant_id, d.id, d.replay_of from told
      cross join lateral (
        select r.tenant_id, r.id, r.replay_of from inbound_deliveries r
        where r.tenant_id = told.tenant_id and r.id = told.replay_of and r.run_id is null limit 1) d),
    emptied as (
      update inbound_deliveries d set body = null, headers = '{}', query = '{}'
      where d.tenant_id = ${tenantId} and d.id = any(array(select id from told)))
    select 1 from gone`)
  return gone.length
}
