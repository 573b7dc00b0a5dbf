import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { pauses, stepRecords, walks } from '@/db/schema/runs'
import type { ServiceContext, Sweep } from '../../context'
import type { Reminder } from '../../definition/reminder'
import type { Attempt, PauseSignal } from '../../definition/run'
import { pauseIs, recordIs, recordOf } from '../../run-store/conditions'
import type { Held } from '../../run-store/held'
import type { Visit, WalkRef } from '../../run-store/names'

// Marks: neither the run nor a walk changes its behaviour.

type OfPause = Pick<WalkRef, 'tenantId' | 'runId'> & { id: string }

/** Counts an attempt of a visit that begins, or takes back one that did not begin. */
export async function countAttempts(tx: Held, of: Parameters<typeof recordIs>[0], attempt: number): Promise<void> {
  await tx.db.update(stepRecords).set({ attempt }).where(recordIs(of))
}

/** Stores the ended attempts of a visit, whose last one is retried. */
export async function keepAttempts(tx: Held, of: Parameters<typeof recordIs>[0], attempts: Attempt[]): Promise<void> {
  await tx.db.update(stepRecords).set({ attempts }).where(recordIs(of))
}

/** Notes that a part of a visit takes the answers that its questions have. */
export async function takeAnswers(tx: Held, of: { state: { ref: WalkRef }; at: Visit }): Promise<void> {
  await tx.db
    .update(pauses)
    .set({ consumedAt: tx.now() })
    .where(and(questionsOf(of), isNotNull(pauses.answeredAt), isNull(pauses.consumedAt)))
}

/** Closes the questions of a visit that ends without their answers. */
export async function withdrawQuestions(tx: Held, of: { state: { ref: WalkRef }; at: Visit }): Promise<void> {
  const now = tx.now()
  await tx.db
    .update(pauses)
    .set({ answeredAt: sql`coalesce(${pauses.answeredAt}, ${now.toISOString()}::timestamptz)`, consumedAt: now })
    .where(and(questionsOf(of), isNull(pauses.consumedAt)))
}

/** The questions that a visit has asked, each with whether an answer was given that no part has taken. */
export async function questionsAsked(tx: Held, of: { state: { ref: WalkRef }; at: Visit }) {
  return tx.db
    .select({
      id: pauses.id,
      isAnswered: sql<boolean>`${pauses.answeredAt} is not null and ${pauses.consumedAt} is null`,
    })
    .from(pauses)
    .where(questionsOf(of))
}

function questionsOf({ state: { ref }, at }: { state: { ref: WalkRef }; at: Visit }) {
  return and(
    eq(pauses.tenantId, ref.tenantId),
    eq(pauses.runId, ref.runId),
    eq(pauses.branch, ref.branch),
    eq(pauses.stepId, at.stepId),
    eq(pauses.visit, at.visit),
  )
}

/** Notes that a wait has looked at earlier events, unless its run was moved meanwhile: it may wait for others now. */
export async function noteLooked({ db }: ServiceContext, pause: OfPause & { epoch: number }): Promise<void> {
  await db
    .update(pauses)
    .set({ looked: true })
    .where(
      and(
        pauseIs(pause, pause.id),
        isNull(pauses.answeredAt),
        sql`exists (
          select from ${walks} w where w.tenant_id = ${pauses.tenantId} and w.run_id = ${pauses.runId}
            and w.branch = ${pauses.branch} and w.epoch = ${pause.epoch})`,
      ),
    )
}

/** Notes that the run that a step waits for was started, or that the wait needs no further work. */
export async function noteChild({ db }: ServiceContext, pause: OfPause, childState: 'started' | 'done'): Promise<void> {
  await db.update(pauses).set({ childState }).where(pauseIs(pause, pause.id))
}

/**
 * Notes the latest reminder about an open task, or its hand-over, and when the next one is due.
 * @param change.signal set if the task was handed over
 */
export async function noteReminder(
  tx: Held,
  pause: typeof pauses.$inferSelect,
  { past, remindAt, signal }: { past: Reminder[]; remindAt: Date | null; signal?: PauseSignal },
): Promise<void> {
  await tx.db
    .update(pauses)
    .set({ remindAt, ...(signal ? { signal } : {}) })
    .where(pauseIs(pause, pause.id))
  await tx.db.update(stepRecords).set({ reminders: past }).where(recordOf(pause))
}

/** A walk that has recorded a step since its restart may be lost once more. */
export async function forgetRestarts({ db }: Sweep): Promise<void> {
  await db
    .update(walks)
    .set({ restarts: 0 })
    .where(
      and(
        eq(walks.status, 'walking'),
        sql`${walks.restarts} > 0`,
        sql`exists (
          select from ${stepRecords} s
          where s.tenant_id = ${walks.tenantId} and s.run_id = ${walks.runId} and s.branch = ${walks.branch}
            and s.start_time > ${walks.updatedAt})`,
      ),
    )
}
