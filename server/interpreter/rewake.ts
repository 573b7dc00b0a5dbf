import { and, eq, gte, isNotNull, isNull, lt, notInArray, sql } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { pauses, runs, walks } from '@/db/schema/runs'
import { systemContext, type TransactionContext, withTransaction } from '../context'
import { env } from '../env'
import type { Log } from '../log'
import { emit } from '../outbox'
import { getRunRow } from './find-run'
import type { WalkRef } from './receipt'

/** By now the wake-up event of an answer has been sent twice: when it was given, and by a sweep. */
const TWICE_MS = 50_000
const BATCH = 200

/**
 * Has the engine take up a walk again, from its last record. The epoch rises, so whatever an earlier call still does no
 * longer counts.
 * @returns false if the walk has ended
 */
export async function requestAgain(
  tx: TransactionContext,
  { runId, branch }: Pick<WalkRef, 'runId' | 'branch'>,
): Promise<boolean> {
  const { tenantId } = tx
  const [row] = await tx.db
    .update(walks)
    .set({ status: 'requested', epoch: sql`${walks.epoch} + 1`, engineRunId: null, updatedAt: tx.now() })
    .where(
      and(
        eq(walks.tenantId, tenantId),
        eq(walks.runId, runId),
        eq(walks.branch, branch),
        // A queued branch waits for its turn, and a walk that forked for its branches: nothing was lost of them.
        notInArray(walks.status, ['ended', 'queued', 'waiting']),
      ),
    )
    .returning({ epoch: walks.epoch, segment: walks.segment })
  if (row) await emit(tx, 'workflow/walk.requested', { tenantId, runId, branch, ...row })
  return row !== undefined
}

/**
 * Continues runs whose answer nobody takes although the engine was told twice: an Inngest server that has lost its state
 * knows of no engine run that waits. Once per answer, because a long queue looks the same. The embedded engine keeps its
 * state in this database, and cannot lose it alone.
 */
export async function sweepUntaken({ db, log, now }: { db: Db; log: Log; now: () => Date }): Promise<number> {
  if (env().engine === 'embedded') return 0
  const rows = await db
    .selectDistinct({ tenantId: pauses.tenantId, runId: pauses.runId, branch: pauses.branch })
    .from(pauses)
    .innerJoin(runs, and(eq(runs.tenantId, pauses.tenantId), eq(runs.id, pauses.runId), isNull(runs.endTime)))
    .innerJoin(walks, walkOf)
    .where(untakenSince(new Date(now().getTime() - TWICE_MS)))
    .limit(BATCH)
  let continued = 0
  for (const { tenantId, runId, branch } of rows) {
    const ctx = systemContext({ tenantId, db, log, now })
    continued += await withTransaction(ctx, async (tx) => {
      const run = await getRunRow(tx, runId, { lock: true })
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
      if (run.endTime || !still || !(await requestAgain(tx, { runId, branch }))) return 0
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
    lt(pauses.answeredAt, before),
    gte(pauses.answeredAt, walks.updatedAt),
  )
}
