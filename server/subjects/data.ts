import { type SQL, sql } from 'drizzle-orm'
import { inboundWebhooks } from '@/db/schema/inbound'
import { apiKeys } from '@/db/schema/keys'
import { members } from '@/db/schema/members'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import { schedules } from '@/db/schema/schedules'
import { threads } from '@/db/schema/threads'
import { agentTurns } from '@/db/schema/turns'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'

/** A run that this `sub` started, including tests of a draft. In the form of the index. */
export const isOwn = (sub: string) => sql`(r.started_via in ('jwt', 'test') and r.started_by = ${sub})`

/** Ids as a list in a statement. */
export const listOf = (ids: readonly string[]) =>
  sql`(select json_array_elements_text(${JSON.stringify(ids)}::text::json))`

/** A page of the runs that the subject started, after one of them; by the index, however many exist. */
export async function ownRuns(
  { db, tenantId }: ServiceContext,
  sub: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const found = await db.execute<{ id: string }>(sql`
    select r.id from ${runs} r where r.tenant_id = ${tenantId} and ${isOwn(sub)} and r.id > ${after}
    order by r.tenant_id, r.started_by, r.id limit ${limit}`)
  return found.map(({ id }) => id)
}

/** The runs by others that repeat a run, or were started by it. */
function runsBelow(tenantId: string, sub: string, above: SQL): SQL {
  const byOthers = sql`r.tenant_id = ${tenantId} and not ${isOwn(sub)}`
  return sql`
    select r.id from ${runs} r where ${byOthers} and r.retry_of = ${above}
    union all
    select r.id from ${pauses} p join ${runs} r on ${byOthers} and r.id = p.child_run_id
    where p.tenant_id = ${tenantId} and p.run_id = ${above}`
}

/** Some of the runs by others that repeat one of these, or were started by one. They contain the subject's data too. */
export async function othersBelow(
  { db, tenantId }: ServiceContext,
  sub: string,
  ids: readonly string[],
  limit: number,
): Promise<string[]> {
  const found = await db.execute<{ id: string }>(sql`
    select distinct below.id from ${listOf(ids)} above(id)
    cross join lateral (${runsBelow(tenantId, sub, sql`above.id`)}) below limit ${limit}`)
  return found.map(({ id }) => id)
}

/**
 * Some of the open runs with a subject's data. Others' runs are traced back to their origin, because a workspace has
 * few open runs, while a subject may have very many ended ones.
 */
export async function openRunsOf({ db, tenantId }: ServiceContext, sub: string, limit: number): Promise<string[]> {
  const isOpen = sql`r.tenant_id = ${tenantId} and r.status in ('running', 'paused') and r.outcome is null`
  const found = await db.execute<{ id: string }>(sql`
    with recursive up(id, above) as (
      select r.id, r.id from ${runs} r
      where ${isOpen} and not ${isOwn(sub)} and (r.retry_of is not null or r.parent_run_id is not null)
      union
      select up.id, next.id from up cross join lateral (
        select r.retry_of as id from ${runs} r where r.tenant_id = ${tenantId} and r.id = up.above and r.retry_of is not null
        union all
        select p.run_id from ${pauses} p where p.tenant_id = ${tenantId} and p.child_run_id = up.above) next)
    select id from (
      select r.id from ${runs} r where ${isOpen} and ${isOwn(sub)}
      union
      select up.id from up join ${runs} r on r.tenant_id = ${tenantId} and r.id = up.above and ${isOwn(sub)}) open
    limit ${limit}`)
  return found.map(({ id }) => id)
}

/**
 * The runs with a subject's data, as the table `mine` of a statement: at most `limit` of its own, and then those by
 * others. `back` is the distance of a run from the subject's own, because it is found only through the ones before it.
 */
export function runsOf({ tenantId }: ServiceContext, sub: string, limit: number): SQL {
  return sql`mine(id, back) as (
    select own.id, 0 from (
      select r.id from ${runs} r where r.tenant_id = ${tenantId} and ${isOwn(sub)}
      order by r.tenant_id, r.started_by, r.id limit ${limit}) own
    union
    select below.id, mine.back + 1 from mine cross join lateral (${runsBelow(tenantId, sub, sql`mine.id`)}) below)`
}

/**
 * The threads that runs by others began, by their ids. A copied record is older than its run, and names a thread of the
 * original run. Until its step is recorded, only the turn knows a thread that it began; one that it continues is older.
 * @param ids of the runs
 */
export function threadsBegunBy({ tenantId }: ServiceContext, sub: string, ids: SQL): SQL {
  return sql`
    select t.id from ${runs} r
    join ${stepRecords} s on s.tenant_id = ${tenantId} and s.run_id = r.id and s.start_time >= r.start_time
      and s.usage ? 'threadId' and not coalesce(s.input_data ? 'threadId', false)
    join ${threads} t on t.tenant_id = ${tenantId} and t.id = s.usage->>'threadId' and t.subject = r.started_by
    where r.tenant_id = ${tenantId} and r.id in ${ids} and not ${isOwn(sub)}
    union
    select t.id from ${runs} r
    join ${agentTurns} a on a.tenant_id = ${tenantId} and a.run_id = r.id
    join ${threads} t on t.tenant_id = ${tenantId} and t.id = a.thread_id and t.subject = r.started_by
      and t.created_at >= a.started_at
    where r.tenant_id = ${tenantId} and r.id in ${ids} and not ${isOwn(sub)}`
}

/**
 * Rejects a subject with the id of another kind of caller: events and threads store only the id, so their data would be
 * taken for the subject's.
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
