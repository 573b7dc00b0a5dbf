import { and, asc, eq, isNull, ne } from 'drizzle-orm'
import { pauses, runs } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { checkFields } from '../definition/fields'
import { type JsonObject, jsonSize } from '../definition/json'
import { MAX_DATA_BYTES, readableSize } from '../definition/limits'
import type { PauseAnswer } from '../definition/run'
import { AppError } from '../errors'
import { getRunRow } from '../interpreter/find-run'
import { wakeWalk } from '../interpreter/wake'
import { parseInput } from '../parse'
import { signalOf } from './present'
import { ResumeRun } from './schema'

type PauseRow = typeof pauses.$inferSelect

/**
 * Answers an open pause. The answer and the wake-up event commit together before this returns, so an acknowledged
 * resume is applied exactly once. Of two at once, one gets RUN_NOT_PAUSED.
 * @throws AppError RUN_NOT_FOUND, RUN_NOT_PAUSED, INVALID_INPUT
 */
export async function resumeRun(ctx: ServiceContext, input: { runId: string; body: unknown }) {
  authorize(ctx, 'run:resume')
  const answer = parseInput(ResumeRun, input.body)
  return withTransaction(ctx, async (tx) => {
    const run = await getRunRow(tx, input.runId, { lock: true })
    const open = await openPauses(tx, run.id)
    if (run.status !== 'paused' || open.length === 0) {
      throw new AppError('RUN_NOT_PAUSED', { details: [{ message: `The run is ${run.status}.`, status: run.status }] })
    }
    const pause = choosePause(open, answer)
    const given = readAnswer(pause, answer)
    refuseTooMuchData(run.data, given)
    const now = tx.now()
    await tx.db
      .update(pauses)
      .set({ answeredAt: now, answer: given, answeredBy: tx.actor.id })
      .where(
        and(
          eq(pauses.tenantId, tx.tenantId),
          eq(pauses.runId, run.id),
          eq(pauses.id, pause.id),
          isNull(pauses.answeredAt),
        ),
      )
    const status = open.length > 1 ? ('paused' as const) : ('running' as const)
    await tx.db
      .update(runs)
      .set({ status, updatedAt: now })
      .where(and(eq(runs.tenantId, tx.tenantId), eq(runs.id, run.id)))
    await wakeWalk(tx, pause)
    return { success: true, runId: run.id, status }
  })
}

/** The run's pauses that wait for a person, oldest first. */
function openPauses(tx: TransactionContext, runId: string): Promise<PauseRow[]> {
  return tx.db
    .select()
    .from(pauses)
    .where(
      and(
        eq(pauses.tenantId, tx.tenantId),
        eq(pauses.runId, runId),
        isNull(pauses.answeredAt),
        ne(pauses.kind, 'timer'),
      ),
    )
    .orderBy(asc(pauses.createdAt), asc(pauses.id))
}

/** The pause to answer: the given one, or the oldest that matches the answer's type. */
function choosePause(open: PauseRow[], answer: ResumeRun): PauseRow {
  const named = answer.pauseId !== undefined || answer.stepId !== undefined
  const candidates = open.filter(
    (pause) =>
      (answer.pauseId === undefined || pause.id === answer.pauseId) &&
      (answer.stepId === undefined || pause.stepId === answer.stepId),
  )
  if (named && candidates.length === 0) {
    throw new AppError('RUN_NOT_PAUSED', {
      message: 'The run is not paused there',
      details: [{ message: 'That pause is no longer open.' }],
    })
  }
  const chosen = candidates.find((pause) => pause.kind === answer.type)
  if (chosen) return chosen
  throw new AppError('INVALID_INPUT', {
    details: [{ path: 'type', message: `The run waits for ${candidates[0]?.kind}, not ${answer.type}.` }],
  })
}

/** @throws AppError INVALID_INPUT; the pause stays open */
function refuseTooMuchData(data: JsonObject, answer: PauseAnswer): void {
  if (!('data' in answer) || jsonSize(data) + jsonSize(answer.data) <= MAX_DATA_BYTES) return
  const message = `With this answer, the run data would be larger than ${readableSize(MAX_DATA_BYTES)}.`
  throw new AppError('INVALID_INPUT', { details: [{ path: 'data', message }] })
}

/** @throws AppError INVALID_INPUT; the pause stays open */
function readAnswer(pause: PauseRow, answer: ResumeRun): PauseAnswer {
  const signal = signalOf(pause)
  if (answer.type === 'collect_inputs' && signal.type === 'collect_inputs') {
    const { data, details } = checkFields(signal.fields, answer.data)
    if (details.length === 0) return { data }
    throw new AppError('INVALID_INPUT', {
      details: details.map((detail) => ({ ...detail, path: `data.${detail.path}` })),
    })
  }
  if (answer.type === 'request_user_action' && signal.type === 'request_user_action') {
    const offered = signal.actions.map((action) => action.id)
    if (offered.includes(answer.actionId))
      return { actionId: answer.actionId, actionValue: answer.actionValue ?? answer.actionId }
    throw new AppError('INVALID_INPUT', {
      details: [{ path: 'actionId', message: `must be one of ${offered.join(', ')}` }],
    })
  }
  throw new AppError('INVALID_INPUT', {
    details: [{ path: 'type', message: `The run waits for ${signal.type}, not ${answer.type}.` }],
  })
}
