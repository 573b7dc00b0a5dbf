import { and, asc, eq, gte, isNotNull, isNull, notInArray, sql } from 'drizzle-orm'
import { pauses, runs, walks } from '@/db/schema/runs'
import { type Sweep, systemContext, withTransaction } from '../../context'
import { env } from '../../env'
import { runOf, walkIs, walkWaits } from '../../run-store/conditions'
import { type Held, holdRun } from '../../run-store/held'
import type { WalkRef } from '../../run-store/names'
import { NEW_EPOCH, requestWalk } from '../write/request'

/**
 * By now the wake-up event of an answer has been sent twice: with the answer, and by a sweep. If a pause expired, the
 * engine's own timer ended the wait earlier.
 */
const TWICE_MS = 50_000
const BATCH = 200

/**
 * Makes the engine continue a walk from its last record.
 * @returns false if there is nothing to continue: the walk has ended, is queued, or waits for its branches
 */
export async function requestAgain(tx: Held, walk: Pick<WalkRef, 'runId' | 'branch'>): Promise<boolean> {
  const ref = { tenantId: tx.tenantId, ...walk }
  const which = and(walkIs(ref), notInArray(walks.status, ['ended', 'queued', 'waiting']))
  return (await requestWalk(tx, ref, which, NEW_EPOCH)) !== null
}

/**
 * Continues runs whose answer no walk takes although the engine was notified twice: an Inngest server that has lost its
 * state has no engine run that waits for the answer. Once per answer, because a long queue looks the same. The embedded
 * engine's state is in this database, so it cannot be lost alone.
 */
export async function sweepUntaken({ db, log, now }: Sweep): Promise<number> {
  if (env().engine === 'embedded') return 0
  const rows = await db
    .select({ tenantId: pauses.tenantId, runId: pauses.runId, branch: pauses.branch })
    .from(pauses)
    .innerJoinLateral(runOf(pauses), isNull(runs.endTime))
    .innerJoin(walks, walkOf)
    .where(untakenSince(new Date(now().getTime() - TWICE_MS)))
    // In the index order of these few.
    .orderBy(asc(pauses.answeredAt))
    .limit(BATCH)
  let continued = 0
  for (const { tenantId, runId, branch } of rows) {
    const ctx = systemContext({ tenantId, db, log, now })
    continued += await withTransaction(ctx, async (tx) => {
      const { held, run } = await holdRun(tx, runId)
      const [still] = await tx.db
        .select({ id: pauses.id })
        .from(pauses)
        .innerJoin(walks, walkOf)
        .where(
          and(
            eq(pauses.tenantId, tenantId),
            eq(pauses.runId, runId),
            eq(pauses.branch, branch),
            untakenSince(new Date(now().getTime() - TWICE_MS)),
          ),
        )
      if (run.endTime || !still || !(await requestAgain(held, { runId, branch }))) return 0
      log.warn({ tenantId, runId, branch }, 'nobody took an answer; the run was requested again')
      return 1
    })
  }
  return continued
}

const walkOf = and(eq(walks.tenantId, pauses.tenantId), eq(walks.runId, pauses.runId), eq(walks.branch, pauses.branch))

function untakenSince(before: Date) {
  return and(
    isNotNull(pauses.answeredAt),
    isNull(pauses.consumedAt),
    walkWaits(),
    // A pause that a sweep answers because it expired has been due for a while.
    sql`case when ${pauses.answer} ? 'due' then ${pauses.dueAt} else ${pauses.answeredAt} end < ${before.toISOString()}::timestamptz`,
    gte(pauses.answeredAt, walks.updatedAt),
  )
}
