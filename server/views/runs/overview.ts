import { and, desc, eq, getTableColumns, isNull, sql } from 'drizzle-orm'
import { RUN_DATA } from '@/db/run-data'
import { runs, stepRecords } from '@/db/schema/runs'
import { workflows } from '@/db/schema/workflows'
import { askedTurnOf } from '../../agents/journal/move'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { AGENT_TURN } from '../../definition/agent-turn'
import { declaredFields, fieldsOfForm } from '../../definition/declared'
import { isJsonObject } from '../../definition/json'
import { lastOf } from '../../definition/part'
import type { Attempt } from '../../definition/run'
import type { Definition, Fields } from '../../definition/schema'
import { AppError } from '../../errors'
import { isId } from '../../ids'
import { largeRead } from '../../large-reads'
import { waitsForPeople, wholeAttempts } from '../../run-store/attempts'
import { findDefinition, partAsRun } from '../../run-store/definition'
import { countOthers } from '../../runs/causes'
import { maskWords } from '../../runs/mask-words'
import { type RunRow, signalOf } from '../../runs/present'
import { retryPointOf } from '../../runs/retry-point'
import { runMasker } from '../../runs/run-masker'
import { isLarge } from '../../runs/stored-run'
import { findStepType } from '../../steps/registry'
import type { Masker } from '../../vault/mask'
import { nameActors, nameAnswerers } from '../actors'
import { asDeclared, labelsOf } from '../as-declared'
import { readHeld } from '../tasks/held'
import { readPeople } from '../tasks/people'
import { readRemarks } from '../tasks/remarks'
import { readReminders } from '../tasks/reminders'
import { showStart, valueStart } from '../value'
import { NUMBER_OF_RUN } from '../workflows/numbers'
import { lastLines, readFailureLog } from './failure-log'
import { readRelative } from './family'
import { stateOf } from './filter'
import { hiddenFields } from './hidden'
import { definitionsOver, maskMove, readMoves } from './moves'
import { ANSWERS, NOTHING, presentAnswer, presentOpen, presentTimer, readPauses } from './pauses'
import { countDone, readAtFailure, readRepeated } from './steps-done'
import { readTurns } from './turns'

/** How many of the latest to show. */
const RUNS_AGAIN = 20
const EDITED = 20

/**
 * Everything about a run except its steps: its state, who started it, what it is waiting for, earlier answers, why it
 * failed, and the runs started from it.
 * @throws AppError RUN_NOT_FOUND
 */
export async function getRunOverview(ctx: ServiceContext, { runId }: { runId: string }) {
  authorize(ctx, 'run:read')
  if (!isId(runId)) throw new AppError('RUN_NOT_FOUND')
  const read = (reading: ServiceContext) => Promise.all([readRun(reading, runId), readPauses(reading, runId)])
  const [run, rows] = (await isLarge(ctx, runId)) ? await largeRead(ctx, read) : await read(ctx)
  const asked = rows.filter(({ pause }) => pause.asks)
  const timers = rows.filter(({ pause }) => !pause.asks)
  const [open, done, repeated, again, workflow, definition, hiding, moves] = await Promise.all([
    readOpenVisits(ctx, run.id),
    countDone(ctx, run.id),
    readRepeated(ctx, run.id),
    readAgain(ctx, run.id),
    readWorkflow(ctx, run.workflowId),
    findDefinition(ctx, run.workflowId, run.workflowVersion),
    runMasker(ctx, run),
    readMoves(ctx, run),
  ])
  // Only people who may answer see the author's values in a question.
  const masker = hiding.vault
  const failed = run.outcome === 'failed' || run.outcome === 'timed_out'
  const retry = definition && run.status === 'failed' ? await readRetry(ctx, run, definition) : null
  const waiting = run.endTime ? [] : asked.filter(({ pause }) => !pause.answeredAt)
  const undecided = asked.filter(({ pause }) => pause.answeredAt && pause.signal)
  const definitionAt = await definitionsOver(ctx, run, moves, definition)
  const [turns, atFailure, alike, failureLog, parent, peopleOf, heldAt] = await Promise.all([
    readTurns(ctx, run.id, definitionAt, hiding),
    failed ? readAtFailure(ctx, run.id, retry, masker) : null,
    run.error && run.outcome === 'failed' ? countOthers(ctx, run, run.error) : null,
    readFailureLog(ctx, run, hiding),
    readRelative(ctx, run.parentRunId, masker),
    readPeople(
      ctx,
      run.id,
      [...waiting, ...undecided].map(({ pause }) => ({ id: pause.id, signal: signalOf(pause) })),
      hiding,
    ),
    waiting.length > 0 ? readHeld(ctx, run.id, masker) : null,
  ])
  const words = maskWords(run, hiding)
  const { cancellation, error } = words
  const [nameOf, answererOf, remindersOf, remarksOf] = await Promise.all([
    nameActors(ctx, [run.startedBy, cancellation?.requestedBy ?? null]),
    nameAnswerers(
      ctx,
      asked.map(({ pause }) => pause),
    ),
    readReminders(
      ctx,
      asked.map(({ pause, reminders }) => ({ id: pause.id, reminders })),
      masker,
    ),
    readRemarks(
      ctx,
      run.id,
      asked.map(({ pause }) => pause.id),
      hiding,
    ),
  ])
  const input = showStart(run.input ?? NOTHING, hiding)
  const data = showStart(run.data ?? NOTHING, hiding)
  const result = run.endTime && run.outcome === 'succeeded' ? showStart(run.result ?? NOTHING, hiding) : null
  const hidden = (of: 'input' | 'data' | 'result', shown: typeof result) =>
    hiddenFields(ctx, run.id, of, { hides: hiding.hides, shown })
  const [inInput, inData, inResult] = await Promise.all([
    hidden('input', input),
    hidden('data', data),
    hidden('result', result),
  ])
  const declared = definition ? declaredFields(definition) : {}
  const names = Object.keys(declared)
  return {
    runId: run.id,
    workflowId: run.workflowId,
    workflowName: words.workflowName,
    businessKey: words.businessKey,
    workflowVersion: run.workflowVersion,
    /** As shown to people; null for a draft. */
    versionNumber: run.versionNumber,
    /** The workflow's current state; null if it is deleted. */
    workflow,
    state: stateOf(run),
    cancelling: run.cancelRequestedAt !== null && run.endTime === null,
    cleaningUp: run.cleanupStartedAt !== null && run.endTime === null,
    /** Why it will fail once its failure path has ended. */
    failing: words.failing && run.endTime === null ? withStepName(words.failing, definition, masker) : null,
    currentStepId: run.currentStepId,
    /** The part of the version it performs, with the step's name; null for all of it. */
    part: run.part && { ...run.part, stepName: nameIn(definition, lastOf(run.part), masker) },
    startTime: run.startTime.toISOString(),
    endTime: run.endTime?.toISOString() ?? null,
    startedBy: nameOf(run.startedBy),
    startedVia: run.startedVia,
    retryOf: run.retryOf,
    /** The run data fields that were edited before it continued from that run. */
    edited: masker.json(Object.keys(run.edits ?? {}).slice(0, EDITED)),
    /** The run whose step started this one. */
    parent,
    again,
    cancellation: cancellation && {
      kind: cancellation.kind,
      reason: cancellation.reason,
      requestedBy: nameOf(cancellation.requestedBy),
      requestedAt: cancellation.requestedAt,
      cleanup: cancellation.cleanup ?? null,
    },
    error: error && { code: error.code, message: error.message, stepId: error.stepId },
    failureLog,
    retrying: open.flatMap((visit) => presentRetry(visit, hiding)).at(0) ?? null,
    /** The running steps, other than pauses. */
    working: run.endTime ? [] : open.flatMap((visit) => presentWorking(visit, masker)),
    /** A step waiting for a time or an event. */
    timer: run.endTime ? null : (timers.map((row) => presentTimer(row, masker)).at(0) ?? null),
    /** The number of completed visits. */
    done,
    /** Of a failed run: how many steps came before, how many a retry keeps, and the steps of its failure path. */
    atFailure,
    /** The step at which a retry continues, and whether it would only end in the same way; null if no step is left. */
    retry: retry && {
      stepId: retry.stepId,
      stepName: nameIn(definition, retry.stepId, masker),
      same: retry.same,
    },
    /** Steps that completed only after failed attempts. */
    repeated: repeated.map(({ endTime, ...row }) => ({
      ...maskWords(row, masker),
      at: (endTime ?? run.startTime).toISOString(),
    })),
    turns,
    /** Its latest moves to other versions, oldest first. */
    moves: moves.map((move) => maskMove(move, masker)),
    /** Other runs that failed for the same reason, and that nobody has repeated. */
    alike,
    pauses: waiting.map((row) => ({
      ...presentOpen(row, masker),
      people: peopleOf(row.pause.id),
      reminders: remindersOf(row.pause.id),
      remarks: remarksOf(row.pause.id),
      held: heldAt?.(row.pause.id, signalOf(row.pause)).held ?? null,
    })),
    answers: asked
      .flatMap(({ pause, stepName }) =>
        presentAnswer(pause, stepName, formOf(definition, pause.stepId), hiding, answererOf).map((answer) => ({
          ...answer,
          reminders: remindersOf(pause.id),
          /** The voters' remarks. */
          remarks: remarksOf(pause.id),
          /** Of a vote that was not decided: who had voted. */
          undecided: answer.ended === 'answered' ? null : peopleOf(pause.id),
        })),
      )
      .slice(-ANSWERS),
    /** The names of the hidden fields in each value. */
    hidden: { input: inInput, data: inData, result: inResult },
    /** The labels of the declared fields. */
    labels: labelsOf(declared, masker),
    input: asDeclared(input, names),
    data: asDeclared(data, names),
    result: result && asDeclared(result, [...namesInResult(definition), ...names]),
  }
}

async function readRetry(
  ctx: ServiceContext,
  { id, part, workflowId }: Pick<RunRow, 'id' | 'part' | 'workflowId'>,
  definition: Definition,
) {
  // A message is answered once: a later run may have taken it up.
  if (workflowId === AGENT_TURN.workflowId && !(await askedTurnOf(ctx, id))) return null
  return retryPointOf(ctx, id, part ? partAsRun(definition, part) : definition)
}

function formOf(definition: Definition | null, stepId: string): Fields {
  const step = definition?.steps.find(({ id }) => id === stepId)
  return step ? fieldsOfForm(step) : {}
}

/** In the order of the steps that end the run. */
function namesInResult(definition: Definition | null): string[] {
  return (definition?.steps ?? []).flatMap(({ type, output }) =>
    type === 'end-flow' && isJsonObject(output) ? Object.keys(output) : [],
  )
}

function nameIn(definition: Definition | null, stepId: string, masker: Masker): string {
  const name = definition?.steps.find(({ id }) => id === stepId)?.name
  return typeof name === 'string' && name !== '' ? masker.text(name) : stepId
}

function withStepName<F extends { stepId: string | null }>(failing: F, definition: Definition | null, masker: Masker) {
  return { ...failing, stepName: failing.stepId && nameIn(definition, failing.stepId, masker) }
}

export type RunOverview = Awaited<ReturnType<typeof getRunOverview>>

const { input: _input, smallData: _data, result: _result, context: _context, ...plainColumns } = getTableColumns(runs)

/** @throws AppError RUN_NOT_FOUND */
async function readRun(ctx: ServiceContext, runId: string) {
  const starts = {
    input: valueStart(sql`runs.input`),
    data: valueStart(RUN_DATA),
    result: valueStart(sql`runs.result`),
  }
  const [run] = await ctx.db
    .select({ ...plainColumns, ...starts, versionNumber: NUMBER_OF_RUN })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), eq(runs.id, runId)))
  if (!run) throw new AppError('RUN_NOT_FOUND')
  return run
}

function readOpenVisits(ctx: ServiceContext, runId: string) {
  return ctx.db
    .select({
      stepId: stepRecords.stepId,
      stepName: stepRecords.stepName,
      stepType: stepRecords.stepType,
      attempt: stepRecords.attempt,
      attempts: stepRecords.attempts,
    })
    .from(stepRecords)
    .where(and(eq(stepRecords.tenantId, ctx.tenantId), eq(stepRecords.runId, runId), isNull(stepRecords.endTime)))
}

async function readAgain(ctx: ServiceContext, runId: string) {
  const rows = await ctx.db
    .select({ runId: runs.id, status: runs.status, outcome: runs.outcome, startTime: runs.startTime })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), eq(runs.retryOf, runId)))
    .orderBy(desc(runs.startTime))
    .limit(RUNS_AGAIN)
  return rows.map((row) => ({ runId: row.runId, state: stateOf(row), startTime: row.startTime.toISOString() }))
}

async function readWorkflow(ctx: ServiceContext, workflowId: string) {
  const [row] = await ctx.db
    .select({ status: workflows.status, publishedVersion: workflows.publishedVersion })
    .from(workflows)
    .where(and(eq(workflows.tenantId, ctx.tenantId), eq(workflows.id, workflowId)))
  return row ?? null
}

/** A step whose last attempt failed, and whose retry is due or running. */
function presentRetry(visit: { stepId: string; stepName: string; attempts: Attempt[] }, masker: Masker) {
  const last = wholeAttempts({ ...visit, attempt: 1 }).attempts.at(-1)
  if (last?.error === undefined) return []
  const due = Date.parse(last.endTime) + (last.retryInMs ?? 0)
  const nextAt = new Date(due).toISOString()
  const { stepId, stepName } = visit
  const words = maskWords({ stepId, stepName, attempt: last.attempt, error: last.error, nextAt }, masker)
  return [{ ...words, log: lastLines(last.logs, masker) }]
}

function presentWorking(
  visit: { stepId: string; stepName: string; stepType: string; attempt: number; attempts: Attempt[] },
  masker: Masker,
) {
  if (findStepType(visit.stepType)?.mode === 'pause' || waitsForPeople(visit)) return []
  return [maskWords({ stepId: visit.stepId, stepName: visit.stepName }, masker)]
}
