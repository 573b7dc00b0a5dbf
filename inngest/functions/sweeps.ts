import type { Db } from '@/db/index'
import { sweeps } from '@/db/schema/sweeps'
import { sweepUsage } from '@/server/agents/usage'
import { sweepAudit } from '@/server/audit/sweep'
import { now } from '@/server/clock'
import type { Sweep } from '@/server/context'
import { sweepEvents } from '@/server/events/sweep'
import { sweepInbound } from '@/server/inbound/sweep'
import { sweepRuns } from '@/server/interpreter/driver'
import { sweepStartForms } from '@/server/links/start/sweep'
import { sweepMails } from '@/server/mail/sweep'
import { sweepIdempotencyKeys } from '@/server/rest/idempotency'
import { sweepChildren } from '@/server/runs/children'
import { deleteOldRuns } from '@/server/runs/delete-old'
import { sweepHeld } from '@/server/runs/held/give'
import { sweepReminders } from '@/server/runs/remind'
import { sweepChats } from '@/server/talk/place'
import { sweepTurns } from '@/server/talk/sweep'
import { count, note } from '@/server/telemetry/measures'
import { countAllDays } from '@/server/views/insights/days'
import { sweepOverdue } from '@/server/webhooks/overdue'
import { sweepWebhooks } from '@/server/webhooks/sweep'

/** A sweep and the name of its step. */
export type Work = readonly [name: string, work: () => Promise<unknown>]

/** The work of every minute: restarting runs that stalled because an event was lost, and deleting what has expired. */
export function everyMinute(sweep: Sweep): Work[] {
  return [
    ['runs', () => sweepRuns(sweep)],
    ['children', () => sweepChildren(sweep)],
    ['held-answers', () => sweepHeld(sweep)],
    ['idempotency-keys', () => sweepIdempotencyKeys(sweep.db, sweep.now())],
    ['overdue', () => sweepOverdue(sweep)],
    ['reminders', () => sweepReminders(sweep)],
    ['webhooks', () => sweepWebhooks(sweep)],
    ['mails', () => sweepMails(sweep)],
    ['inbound', () => sweepInbound(sweep)],
    ['events', () => sweepEvents(sweep)],
    ['chats', () => sweepChats(sweep.db, sweep.now())],
    ['turns', () => sweepTurns(sweep)],
    ['usage', () => sweepUsage(sweep)],
    ['audit', () => sweepAudit(sweep)],
    ['start-forms', () => sweepStartForms(sweep)],
    ['old-runs', () => deleteOldRuns(sweep, countAllDays)],
  ]
}

/** Records when the sweep ended, for all processes, and how long it took. */
export function timed<T>(db: Db, sweep: string, work: () => Promise<T>): () => Promise<T> {
  return async () => {
    const began = performance.now()
    try {
      const done = await work()
      const succeededAt = now()
      await db
        .insert(sweeps)
        .values({ name: sweep, succeededAt })
        .onConflictDoUpdate({ target: sweeps.name, set: { succeededAt } })
      return done
    } catch (err) {
      count('millrace_sweep_failures_total', { sweep })
      throw err
    } finally {
      note('millrace_sweep_duration_seconds', { sweep }, (performance.now() - began) / 1_000)
    }
  }
}

/**
 * Runs the sweeps one after the other; if one fails, the others still run.
 * @throws the first failure, after all have run
 */
export async function sweepEach(
  db: Db,
  works: readonly Work[],
  run: (...work: Work) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = []
  for (const [name, work] of works) await run(name, timed(db, name, work)).catch((err: unknown) => failures.push(err))
  if (failures.length > 0) throw failures[0]
}
