import { type SQL, sql } from 'drizzle-orm'
import { inboundWebhooks } from '@/db/schema/inbound'
import { apiKeys } from '@/db/schema/keys'
import { members } from '@/db/schema/members'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import { schedules } from '@/db/schema/schedules'
import { threads } from '@/db/schema/threads'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'

/** A run that somebody with this `sub` started; trying out a draft counts as well. In the form of the index. */
const isOwn = (sub: string) => sql`r.started_via in ('jwt', 'test') and r.started_by = ${sub}`

/**
 * The runs with a subject's data, as the table `mine` of a statement: those it started, and those by others that repeat
 * one of them or were started by such a run. `back` says how far a run is from the subject's own, because it is found only
 * through the ones before it.
 */
export function runsOf({ tenantId }: ServiceContext, sub: string): SQL {
  const byOthers = sql`r.tenant_id = ${tenantId} and not (${isOwn(sub)})`
  return sql`mine(id, back) as (
    select r.id, 0 from ${runs} r where r.tenant_id = ${tenantId} and ${isOwn(sub)}
    union
    select next.id, mine.back + 1 from mine cross join lateral (
      select r.id from ${runs} r where ${byOthers} and r.retry_of = mine.id
      union all
      select r.id from ${pauses} p join ${runs} r on ${byOthers} and r.id = p.child_run_id
      where p.tenant_id = ${tenantId} and p.run_id = mine.id) next)`
}

/**
 * The threads with a subject's data, by their ids: its own, and those that runs of `mine` by others began. A copied record
 * is older than its run, and names a thread of the run that it was copied from.
 */
export function threadsOf({ tenantId }: ServiceContext, sub: string): SQL {
  return sql`
    select t.id from ${threads} t where t.tenant_id = ${tenantId} and t.subject = ${sub}
    union
    select t.id from mine
    join ${runs} r on r.tenant_id = ${tenantId} and r.id = mine.id
    join ${stepRecords} s on s.tenant_id = ${tenantId} and s.run_id = r.id and s.start_time >= r.start_time
      and s.usage ? 'threadId' and not coalesce(s.input_data ? 'threadId', false)
    join ${threads} t on t.tenant_id = ${tenantId} and t.id = s.usage->>'threadId' and t.subject = r.started_by
    where mine.back > 0`
}

/**
 * Events and threads keep only who it was, not by which kind of caller. So that nobody else's are taken for the subject's,
 * no subject may be called as another kind of caller is.
 * @throws AppError INVALID_INPUT
 */
export async function requireSubject({ db, tenantId }: ServiceContext, sub: string): Promise<void> {
  const [other] = await db.execute(sql`
    select 1 where ${sub} = 'system'
    union all select 1 from ${apiKeys} k where k.tenant_id = ${tenantId} and k.id = ${sub}
    union all select 1 from ${members} m where m.tenant_id = ${tenantId} and m.user_id = ${sub}
    union all select 1 from ${schedules} s where s.tenant_id = ${tenantId} and s.id = ${sub}
    union all select 1 from ${inboundWebhooks} w where w.tenant_id = ${tenantId} and w.id = ${sub}`)
  if (!other) return
  const message = 'is the id of a member, an API key, a schedule or an inbound webhook'
  throw new AppError('INVALID_INPUT', { details: [{ path: 'sub', message }] })
}
