import { sql } from 'drizzle-orm'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { AuditActor } from '../definition/audit'

const MAX = 200

/** Every actor in the audit log, by their latest name. */
export async function listAuditActors(ctx: ServiceContext) {
  authorize(ctx, 'audit:read')
  // One step of the index per actor, however many entries each has.
  const rows = await ctx.db.execute<{ id: string; kind: AuditActor; name: string }>(sql`
    with recursive known(id, n) as (
      (select actor_id, 1 from audit_entries where tenant_id = ${ctx.tenantId} order by actor_id limit 1)
      union all
      select next.actor_id, known.n + 1 from known cross join lateral (
        select actor_id from audit_entries
        where tenant_id = ${ctx.tenantId} and actor_id > known.id order by actor_id limit 1) next
      where known.n < ${MAX})
    select known.id, last.kind, last.name from known cross join lateral (
      select actor_kind as kind, actor_name as name from audit_entries
      where tenant_id = ${ctx.tenantId} and actor_id = known.id order by at desc, seq desc limit 1) last
    order by last.name, known.id`)
  return [...rows]
}
