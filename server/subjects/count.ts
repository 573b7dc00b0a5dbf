import { type SQL, sql } from 'drizzle-orm'
import { events } from '@/db/schema/events'
import { files } from '@/db/schema/files'
import { idempotencyKeys } from '@/db/schema/idempotency'
import { runs } from '@/db/schema/runs'
import { threads } from '@/db/schema/threads'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { largeRead } from '../large-reads'
import { parseInput } from '../parse'
import { requireSubject, runsOf, threadsBegunBy } from './data'
import { SubjectData } from './schema'

/** The maximum to count of runs, threads, events or keys. */
const MAX = 10_000

/** The amount of a subject's data. */
export type SubjectCounts = {
  runs: number
  files: number
  threads: number
  events: number
  idempotencyKeys: number
}

/**
 * Counts the data that the deletion would delete, up to a limit.
 * @throws AppError INVALID_INPUT, FORBIDDEN, UNAVAILABLE
 */
export async function countSubjectData(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'subject:delete')
  const { sub } = parseInput(SubjectData, input)
  await requireSubject(ctx, sub)
  const { tenantId } = ctx
  const some = (what: SQL) => sql`(select count(*)::int from (${what} limit ${MAX + 1}) part)`
  const [found] = await largeRead(ctx, (reading) =>
    reading.db.execute<SubjectCounts & { openRuns: number }>(sql`
      with recursive ${runsOf(ctx, sub, MAX + 1)},
      ids as materialized (select distinct id from (select id from mine limit ${MAX + 1}) part),
      conversations as materialized (select id from (
        select t.id from ${threads} t where t.tenant_id = ${tenantId} and t.subject = ${sub}
        union ${threadsBegunBy(ctx, sub, sql`(select id from ids)`)} limit ${MAX + 1}) part)
      select
        (select count(*)::int from ids) as "runs",
        (select count(*)::int from ids join ${runs} r on r.tenant_id = ${tenantId} and r.id = ids.id and r.end_time is null)
          as "openRuns",
        (select count(*)::int from (
          select f.id, f.condemned_at from ids join ${files} f on f.tenant_id = ${tenantId} and f.run_id = ids.id
          union all
          select f.id, f.condemned_at from conversations c join ${files} f on f.tenant_id = ${tenantId} and f.thread_id = c.id
          ) f where f.condemned_at is null) as "files",
        (select count(*)::int from conversations) as "threads",
        ${some(sql`select from ${events} e where e.tenant_id = ${tenantId} and e.posted_by = ${sub}`)} as "events",
        ${some(sql`select from ${idempotencyKeys} k where k.tenant_id = ${tenantId} and k.subject = ${sub}`)}
          as "idempotencyKeys"`),
  )
  const counts = found as SubjectCounts & { openRuns: number }
  const atLeast = Math.max(counts.runs, counts.threads, counts.events, counts.idempotencyKeys) > MAX
  return { sub, ...counts, atLeast }
}
