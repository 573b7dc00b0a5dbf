import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { z } from 'zod'
import { pauses, stepRecords } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { largeRead } from '../../large-reads'
import { parseInput } from '../../parse'
import { wholeAttempts } from '../../run-store/attempts'
import { getRunRow } from '../../run-store/find-run'
import { MAIN_BRANCH, pauseIdOf } from '../../run-store/names'
import { maskWords } from '../../runs/mask-words'
import { noSuchStep } from '../../runs/no-such-step'
import { failedAt } from '../../runs/progress'
import { runMaskerOf } from '../../runs/run-masker'
import { isLarge } from '../../runs/stored-run'
import { findStepType } from '../../steps/registry'
import { nameAnswerers } from '../actors'
import { type Ended, howEnded } from '../tasks/ended'
import { readReminders } from '../tasks/reminders'
import { cutValue } from '../value'
import { readRelative } from './family'

export const ReadStep = z.object({ runId: z.string(), seq: z.number().int().min(0) })
export type ReadStep = z.input<typeof ReadStep>

/**
 * One visit with its input, output, error and attempts; large values are cut.
 * @throws AppError RUN_NOT_FOUND, also when the run has no such visit; INVALID_INPUT
 */
export async function readStep(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'run:read')
  const { runId, seq } = parseInput(ReadStep, input)
  const find = (reading: ServiceContext) => findRecord(reading, runId, seq)
  const record = (await isLarge(ctx, runId)) ? await largeRead(ctx, find) : await find(ctx)
  const pauseId = pauseIdOf(record.branch, record)
  const [masker, pause] = await Promise.all([runMaskerOf(ctx, runId), findPause(ctx, runId, pauseId)])
  const { stepName, error, usage } = maskWords(record, masker)
  const { attempt, attempts } = wholeAttempts(record)
  const [answererOf, remindersOf, child] = await Promise.all([
    nameAnswerers(ctx, pause ? [pause] : []),
    readReminders(ctx, [{ id: pauseId, reminders: record.reminders }], masker),
    readRelative(ctx, pause?.childRunId, masker),
  ])
  return {
    seq,
    stepId: record.stepId,
    stepName,
    stepType: record.stepType,
    /** The type's title in the editor. */
    typeTitle: findStepType(record.stepType)?.title ?? record.stepType,
    branch: record.branch,
    /** Whether a new run can continue at this visit: not in a branch, after the run failed, or only to fail again. */
    startsAgain:
      record.branch === MAIN_BRANCH && record.beforeFailure && findStepType(record.stepType)?.mode !== 'fail',
    visit: record.visit,
    status: record.status,
    attempt,
    startTime: record.startTime.toISOString(),
    endTime: record.endTime?.toISOString() ?? null,
    input: cutValue(record.inputData ?? {}, masker),
    /** The name under which it saved its output, if that is no object. */
    savedAs: record.savedAs,
    output: record.endTime ? cutValue(record.outputData ?? {}, masker) : null,
    exit: record.exit,
    handled: record.handled === true,
    error: error === null ? null : { message: error, code: record.errorCode },
    usage,
    attempts: attempts.map((one) => maskWords(one, masker)),
    /** Of a task, also after it was answered. */
    reminders: remindersOf(pauseId),
    /** The run that the step started. */
    child,
    pause: pause && {
      id: pauseId,
      createdAt: pause.createdAt.toISOString(),
      answeredAt: pause.answeredAt?.toISOString() ?? null,
      answeredBy: answererOf(pause),
      /** What ended the wait; null while it is open. */
      ended: pause.answeredAt && endedBy(pause),
    },
  }
}

type Pause = typeof pauses.$inferSelect

function endedBy({ answer, kind }: Pick<Pause, 'answer' | 'kind'>): Ended | 'continued' | 'event' {
  if (answer && 'event' in answer) return 'event'
  const ended = howEnded(answer)
  return ended === 'expired' && kind === 'timer' ? 'continued' : ended
}

export type StepDetail = Awaited<ReturnType<typeof readStep>>

const { config: _config, delta: _delta, receipt: _receipt, ...shownColumns } = getTableColumns(stepRecords)

/** @throws AppError RUN_NOT_FOUND */
async function findRecord(ctx: ServiceContext, runId: string, seq: number) {
  const [record] = await ctx.db
    .select({
      ...shownColumns,
      beforeFailure: sql<boolean>`${stepRecords.seq} <= ${failedAt(ctx, runId)}`,
      savedAs: sql<string | null>`case when ${stepRecords.delta} ? (${stepRecords.config} ->> 'saveAs')
        and jsonb_typeof(${stepRecords.delta} -> (${stepRecords.config} ->> 'saveAs')) <> 'object'
        then ${stepRecords.config} ->> 'saveAs' end`,
    })
    .from(stepRecords)
    .where(and(eq(stepRecords.tenantId, ctx.tenantId), eq(stepRecords.runId, runId), eq(stepRecords.seq, seq)))
  if (record) return record
  await getRunRow(ctx, runId)
  throw noSuchStep()
}

async function findPause(ctx: ServiceContext, runId: string, id: string) {
  const [pause] = await ctx.db
    .select()
    .from(pauses)
    .where(and(eq(pauses.tenantId, ctx.tenantId), eq(pauses.runId, runId), eq(pauses.id, id)))
  return pause ?? null
}
