import { and, eq, isNull, ne, sql } from 'drizzle-orm'
import { runMoves } from '@/db/schema/moves'
import { pauses, pauseVotes, runs, stepRecords, walks } from '@/db/schema/runs'
import { taskLinks } from '@/db/schema/task-links'
import { type JsonObject, jsonSize } from '../../definition/json'
import type { Vote } from '../../definition/people'
import type { AskedBefore, PauseSignal, RunData } from '../../definition/run'
import type { StepConfig } from '../../definition/step-config'
import { isRun, pauseIs, recordOf, walkIs, walksOf } from '../../run-store/conditions'
import { type Held, requireHeld } from '../../run-store/held'
import type { Visit, WalkRef } from '../../run-store/names'
import type { RunRow } from '../../run-store/walk-data'
import type { Asked } from '../../steps/define-step'
import { NEW_EPOCH } from './request'

// A run is moved to another version between two attempts.

/** Nothing that was planned before counts any more. */
export async function raiseEpochs(tx: Held, run: RunRow): Promise<void> {
  requireHeld(tx, run.id)
  await tx.db
    .update(walks)
    .set({ ...NEW_EPOCH, updatedAt: tx.now() })
    .where(and(walksOf(run), ne(walks.status, 'ended')))
}

/** A run that has begun nothing gets values of START fields, as if it had been started on the other version. */
export async function giveDefaults(
  tx: Held,
  run: RunRow & { smallData: RunData },
  defaults: JsonObject,
): Promise<void> {
  requireHeld(tx, run.id)
  if (Object.keys(defaults).length === 0) return
  const [row] = await tx.db.select({ input: runs.input }).from(runs).where(isRun(run))
  await tx.db
    .update(runs)
    .set({ input: { ...row?.input, ...defaults }, smallData: { ...run.smallData, ...defaults } })
    .where(and(isRun(run), isNull(runs.endTime)))
}

/** A walk that has begun nothing begins elsewhere. */
export async function beginAt(tx: Held, walk: Pick<WalkRef, 'tenantId' | 'runId' | 'branch'>, stepId: string) {
  await tx.db.update(walks).set({ stepId, visit: 1 }).where(walkIs(walk))
}

/** The configuration of an open visit: its answer is stored by it. */
export async function rewriteVisit(
  tx: Held,
  at: Pick<WalkRef, 'tenantId' | 'runId' | 'branch'> & Visit,
  { config, inputData, stepName }: { config: StepConfig; inputData: JsonObject; stepName: string },
): Promise<void> {
  await tx.db
    .update(stepRecords)
    .set({ config, inputData, inputBytes: jsonSize(inputData), stepName })
    .where(and(recordOf(at), isNull(stepRecords.endTime)))
}

type OfPause = Pick<WalkRef, 'tenantId' | 'runId'> & { id: string }

/** An open pause asks something else. Links to it are revoked, because they show and answer the old question. */
export async function askAgain(
  tx: Held,
  pause: OfPause,
  { signal, dueAt, event }: Asked,
  remindAt: Date | null,
): Promise<void> {
  const waits = event
    ? { eventName: event.name, eventKey: event.key, eventRules: event.rules, looked: false }
    : { eventName: null, eventKey: null, eventRules: null }
  await tx.db
    .update(pauses)
    .set({ signal, dueAt: dueAt ?? null, ...waits, overdueAt: null, remindAt })
    .where(and(pauseIs(pause, pause.id), isNull(pauses.answeredAt)))
  const { tenantId, runId, pauseId, usedAt, revokedAt } = taskLinks
  const links = and(eq(tenantId, pause.tenantId), eq(runId, pause.runId), eq(pauseId, pause.id))
  await tx.db
    .update(taskLinks)
    .set({ revokedAt: tx.now() })
    .where(and(links, isNull(usedAt), isNull(revokedAt)))
}

/** Notifies webhooks and people of the new question. Call it once the run has its version. */
export async function tellAskedAgain(tx: Held, { tenantId, runId, id }: OfPause): Promise<void> {
  await tx.db.execute(sql`select tell_asked_again(${tenantId}, ${runId}, ${id})`)
}

/** Deletes the votes at a pause, which were cast about another question. @returns them, oldest first */
export async function dropVotes(tx: Held, pause: OfPause): Promise<Vote[]> {
  const { tenantId, runId, pauseId } = pauseVotes
  const dropped = await tx.db
    .delete(pauseVotes)
    .where(and(eq(tenantId, pause.tenantId), eq(runId, pause.runId), eq(pauseId, pause.id)))
    .returning()
  return dropped
    .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
    .map(({ person: by, name, actionId, data, remark }) => ({
      ...{ by, name, actionId },
      ...(data === null ? {} : { data }),
      ...(remark === null ? {} : { remark }),
    }))
}

/** What a pause asked, for the move that has it ask something else. */
export function askedBefore(
  pause: typeof pauses.$inferSelect,
  { signal, votes }: { signal: PauseSignal | null; votes: Vote[] },
): AskedBefore {
  const { eventName: name, eventKey: key, eventRules: rules } = pause
  return {
    pauseId: pause.id,
    signal,
    dueAt: pause.dueAt?.toISOString() ?? null,
    ...(name !== null && rules !== null ? { event: { name, key, rules } } : {}),
    votes,
  }
}

/** Writes down a move, and changes the version of the run. */
export async function changeVersion(
  tx: Held,
  run: RunRow,
  to: { version: number; timeoutAt: Date | null; stepId: string | null },
  move: Pick<typeof runMoves.$inferInsert, 'afterSeq' | 'asked' | 'batch' | 'reason'>,
): Promise<void> {
  const { tenantId, id: runId, workflowId, workflowVersion: fromVersion } = run
  const movedAt = tx.now()
  const n = sql<number>`(
    select coalesce(max(m.n), 0) + 1 from run_moves m where m.tenant_id = ${tenantId} and m.run_id = ${runId})`
  await tx.db.insert(runMoves).values({
    ...{ tenantId, runId, n, workflowId, fromVersion, toVersion: to.version },
    ...{ ...move, movedBy: tx.actor.id, movedAt },
  })
  await tx.db
    .update(runs)
    .set({
      ...{ workflowVersion: to.version, timeoutAt: to.timeoutAt, updatedAt: movedAt },
      ...(to.stepId === null ? {} : { currentStepId: to.stepId }),
    })
    .where(and(isRun(run), isNull(runs.endTime), eq(runs.workflowVersion, fromVersion)))
}
