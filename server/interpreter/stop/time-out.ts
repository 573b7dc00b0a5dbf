import { and, asc, gt, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { forEachAtOnce } from '@/lib/for-each-at-once'
import { type Sweep, systemContext, withTransaction } from '../../context'
import { emit } from '../../outbox'
import { fairOrder } from '../../query/fair-order'
import { type Held, holdRun } from '../../run-store/held'
import type { RunRow } from '../../run-store/walk-data'
import { closeRun } from '../write/close'
import { endOpenWork } from './open-work'

const BATCH = 200
const AT_ONCE = 4

const FAILURE = { code: 'RUN_TIMED_OUT', message: 'The run took longer than its workflow allows.' } as const

/**
 * Ends the runs that exceed their time limit, as a terminate would, but as failed with the outcome `timed_out`. An
 * earlier cancel continues: it has limits of its own. One batch, of each tenant in turn.
 */
export async function timeOutRuns({ db, log, now }: Sweep, until: Date) {
  const due = await db
    .select({ tenantId: runs.tenantId, id: runs.id })
    .from(runs)
    .where(and(open, isNull(runs.cancelRequestedAt), lte(runs.timeoutAt, until)))
    .orderBy(fairOrder(runs.tenantId, runs.timeoutAt), asc(runs.timeoutAt))
    .limit(BATCH)
  let failed = 0
  await forEachAtOnce(due, AT_ONCE, ({ tenantId, id }) =>
    withTransaction(systemContext({ tenantId, db, log, now }), async (tx) => {
      const { held, run } = await holdRun(tx, id)
      // It may have been moved meanwhile, to a version that gives it more time.
      const isDue = run.timeoutAt !== null && run.timeoutAt <= until
      if (isDue && !run.endTime && !run.cancelRequestedAt) await timeOut(held, run)
    }).catch((err: unknown) => {
      failed++
      log.error({ err, tenantId, runId: id }, 'a run whose time is up could not be ended')
    }),
  )
  return { found: due.length, done: due.length - failed, failed }
}

/** The next time limit of a run after a given time. */
export async function nextTimeOut({ db }: Pick<Sweep, 'db'>, after: Date): Promise<Date | null> {
  const later = and(open, isNull(runs.cancelRequestedAt), gt(runs.timeoutAt, after))
  const [next] = await db.select({ at: runs.timeoutAt }).from(runs).where(later).orderBy(asc(runs.timeoutAt)).limit(1)
  return next?.at ?? null
}

/** Must match the partial index exactly. */
const open: SQL = sql`timeout_at is not null and end_time is null`

async function timeOut(tx: Held, run: RunRow): Promise<void> {
  await endOpenWork(tx, run, FAILURE)
  const error = { ...FAILURE, stepId: run.currentStepId }
  await closeRun(tx, run, { status: 'failed', outcome: 'timed_out', written: null, error, stepId: null })
  await emit(tx, 'workflow/run.terminated', { tenantId: run.tenantId, runId: run.id })
}
