import { and, asc, eq, lt, lte } from 'drizzle-orm'
import { isUnavailable } from '@/db/index'
import { schedules, scheduleTicks } from '@/db/schema/schedules'
import { lastTime, nextTime, parseCron } from '@/lib/cron'
import { type Sweep, systemContext, type TransactionContext, withTransaction } from '../context'
import { env } from '../env'
import { AppError } from '../errors'
import { startRun } from '../runs/start'
import type { ScheduleRow, TickRow } from './present'

const BATCH = 200
/** Per schedule and sweep: more than a late sweep can find, even a preview’s. */
const MAX_TICKS = 100
const MINUTE_MS = 60_000
const KEEP_DAYS = 90

/**
 * The delay within which a time still counts as on time, so that a restart misses none. A preview sweeps once an hour.
 */
const graceMs = () => (env().deployment === 'preview' ? 70 : 10) * MINUTE_MS

/**
 * Starts the due runs. Any number of processes may call this concurrently: a schedule is locked while its time is
 * decided, and one transaction writes the run, the tick and the next time.
 */
export async function fireDue({ db, log, now }: Sweep): Promise<{ started: number }> {
  const due = await db
    .select({ tenantId: schedules.tenantId, id: schedules.id })
    .from(schedules)
    .where(lte(schedules.nextAt, now()))
    .orderBy(asc(schedules.nextAt))
    .limit(BATCH)
  let started = 0
  for (const { tenantId, id } of due) {
    const ctx = systemContext({ tenantId, db, log, now }, id)
    try {
      for (let ticks = 0; ticks < MAX_TICKS; ticks++) {
        const tick = await withTransaction(ctx, (tx) => fire(tx, id))
        if (!tick) break
        if (tick.runId) started += 1
      }
    } catch (err) {
      // It is due again at the next sweep, and does not delay the others.
      log.error({ err, tenantId, scheduleId: id }, 'a schedule could not be fired')
    }
  }
  const old = new Date(now().getTime() - KEEP_DAYS * 24 * 60 * MINUTE_MS)
  await db.delete(scheduleTicks).where(lt(scheduleTicks.at, old))
  return { started }
}

/** Decides the next time of a schedule. @returns the outcome; null if none is due, or another process holds it */
async function fire(tx: TransactionContext, id: string): Promise<Pick<TickRow, 'runId'> | null> {
  const now = tx.now()
  const is = and(eq(schedules.tenantId, tx.tenantId), eq(schedules.id, id))
  const [row] = await tx.db
    .select()
    .from(schedules)
    .where(and(is, lte(schedules.nextAt, now)))
    .for('update', { skipLocked: true })
  if (!row?.nextAt) return null
  const { at, missed } = timeOf(row, row.nextAt, now)
  const key = { tenantId: tx.tenantId, scheduleId: id, at }
  const skipped = { status: 'skipped' as const, runId: null, error: LATE }
  // Insert this first. The time may already have its row: a change by a process with a slow clock repeats it.
  const [mine] = await tx.db
    .insert(scheduleTicks)
    .values({ ...key, createdAt: now, ...skipped })
    .onConflictDoNothing()
    .returning({ at: scheduleTicks.at })
  const tick = mine && !missed ? await start(tx, row) : skipped
  if (tick !== skipped) await tx.db.update(scheduleTicks).set(tick).where(tickIs(key))
  const nextAt = nextTime(parseCron(row.cron), row.timeZone, at)
  await tx.db.update(schedules).set({ nextAt }).where(is)
  return tick
}

const tickIs = ({ tenantId, scheduleId, at }: Pick<TickRow, 'tenantId' | 'scheduleId' | 'at'>) =>
  and(eq(scheduleTicks.tenantId, tenantId), eq(scheduleTicks.scheduleId, scheduleId), eq(scheduleTicks.at, at))

/** The time to decide: the next one, or the last missed one on behalf of all. */
function timeOf({ cron, timeZone, catchUp }: ScheduleRow, next: Date, now: Date): { at: Date; missed: boolean } {
  const onTime = new Date(now.getTime() - graceMs())
  if (next >= onTime) return { at: next, missed: false }
  const until = catchUp === 'once' ? now : new Date(onTime.getTime() - 1)
  return { at: lastTime(parseCron(cron), timeZone, next, until) ?? next, missed: catchUp === 'skip' }
}

const LATE = 'The service was not running at that time.'

/** Starts the run in a savepoint, so that a rejected start is recorded instead of retried. */
async function start(tx: TransactionContext, row: ScheduleRow): Promise<Pick<TickRow, 'status' | 'runId' | 'error'>> {
  try {
    const { runId } = await tx.db.transaction((db) =>
      startRun({ ...tx, db }, { workflowId: row.workflowId, body: row.data, version: undefined }),
    )
    return { status: 'started', runId, error: null }
  } catch (err) {
    if (isUnavailable(err) || (err instanceof AppError && err.code === 'UNAVAILABLE')) throw err
    if (!(err instanceof AppError)) tx.log.error({ err, scheduleId: row.id }, 'the start of a schedule failed')
    return { status: 'failed', runId: null, error: reasonOf(err) }
  }
}

function reasonOf(err: unknown): string {
  if (!(err instanceof AppError)) return 'Internal server error'
  const [first] = err.details
  return first ? `${err.message}: ${first.path ? `${first.path} ` : ''}${first.message}` : err.message
}
