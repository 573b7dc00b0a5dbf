import { and, asc, eq, isNull } from 'drizzle-orm'
import { pauses, runs, stepRecords, walks } from '@/db/schema/runs'
import type { ServiceContext, TransactionContext } from '../context'
import { isBranch } from '../definition/branches'
import type { PauseAnswer } from '../definition/run'
import { AppError } from '../errors'
import { runIs } from './find-run'
import { resumeResting } from './resume-resting'
import { storeAnswer } from './store-answer'
import { wakeWalk } from './wake'

/**
 * The run's open pauses, oldest first, each with its run, walk and record. One statement, so that the run data is what the
 * walk rests with.
 */
export function openPauses(ctx: ServiceContext, runId: string) {
  return ctx.db
    .select({
      run: runs,
      pause: pauses,
      walk: { branch: walks.branch, epoch: walks.epoch, segment: walks.segment, status: walks.status },
      record: stepRecords,
    })
    .from(pauses)
    .innerJoin(runs, and(eq(runs.tenantId, pauses.tenantId), eq(runs.id, pauses.runId)))
    .innerJoin(
      walks,
      and(eq(walks.tenantId, pauses.tenantId), eq(walks.runId, pauses.runId), eq(walks.branch, pauses.branch)),
    )
    .leftJoin(
      stepRecords,
      and(
        eq(stepRecords.tenantId, pauses.tenantId),
        eq(stepRecords.runId, pauses.runId),
        eq(stepRecords.branch, pauses.branch),
        eq(stepRecords.stepId, pauses.stepId),
        eq(stepRecords.visit, pauses.visit),
      ),
    )
    .where(and(runIs(ctx, runId), isNull(pauses.answeredAt)))
    .orderBy(asc(pauses.createdAt), asc(pauses.id))
}

export type OpenPause = Awaited<ReturnType<typeof openPauses>>[number]

/**
 * Answers a pause at which its walk rests, and begins what follows, in one statement.
 * @returns false if that is not possible; nothing was written then
 */
export async function answerAtRest(
  ctx: ServiceContext,
  open: readonly OpenPause[],
  { run, pause, walk, record }: OpenPause,
  answer: PauseAnswer,
): Promise<boolean> {
  // A branch goes on under the lock, as others may have paused or ended the run meanwhile.
  if (open.length !== 1 || walk.status !== 'resting' || record === null || isBranch(walk.branch)) return false
  return resumeResting(ctx, { run, walk, record, pauseId: pause.id }, answer)
}

/** Writes the answer to a pause of a locked run, and has its walk go on. @returns the run's status */
export async function writeAnswer(
  tx: TransactionContext,
  { run, pause }: OpenPause,
  answer: PauseAnswer,
): Promise<'paused' | 'running'> {
  const status = await storeAnswer(tx, { tenantId: tx.tenantId, runId: run.id }, pause.id, answer)
  if (status === null) throw new AppError('RUN_NOT_PAUSED')
  await wakeWalk(tx, pause)
  return status
}
