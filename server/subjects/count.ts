import { sql } from 'drizzle-orm'
import { events } from '@/db/schema/events'
import { files } from '@/db/schema/files'
import { idempotencyKeys } from '@/db/schema/idempotency'
import { runs } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { largeRead } from '../large-reads'
import { parseInput } from '../parse'
import { requireSubject, runsOf, threadsOf } from './data'
import { SubjectData } from './schema'

/** How much data of a subject there is. */
export type SubjectCounts = {
  runs: number
  files: number
  threads: number
  events: number
  idempotencyKeys: number
}

/**
 * Counts what the deletion would delete.
 * @throws AppError INVALID_INPUT, FORBIDDEN, UNAVAILABLE
 */
export async function countSubjectData(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'subject:delete')
  const { sub } = parseInput(SubjectData, input)
  await requireSubject(ctx, sub)
  const { tenantId } = ctx
  const [found] = await largeRead(ctx, (reading) =>
    reading.db.execute<SubjectCounts & { openRuns: number }>(sql`
      with recursive ${runsOf(ctx, sub)}, ids as materialized (select distinct id from mine)
      select
        (select count(*)::int from ids) as "runs",
        (select count(*)::int from ids join ${runs} r on r.tenant_id = ${tenantId} and r.id = ids.id and r.end_time is null)
          as "openRuns",
        (select count(*)::int from ids join ${files} f on f.tenant_id = ${tenantId} and f.run_id = ids.id
          where f.condemned_at is null) as "files",
        (select count(*)::int from (${threadsOf(ctx, sub)}) t) as "threads",
        (select count(*)::int from ${events} e where e.tenant_id = ${tenantId} and e.posted_by = ${sub}) as "events",
        (select count(*)::int from ${idempotencyKeys} k where k.tenant_id = ${tenantId} and k.subject = ${sub})
          as "idempotencyKeys"`),
  )
  return { sub, ...(found as SubjectCounts & { openRuns: number }) }
}
