import { and, asc, desc, eq, getTableColumns, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm'
import { RUN_DATA } from '@/db/run-data'
import { pauses, pauseVotes, runs, stepRecords } from '@/db/schema/runs'
import { workflows } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { declaredFields, fieldsOfForm, inOrder } from '../../definition/declared'
import { isJsonObject } from '../../definition/json'
import { lastOf } from '../../definition/part'
import type { Vote } from '../../definition/people'
import type { Attempt, PauseSignal } from '../../definition/run'
import type { Definition, Fields } from '../../definition/schema'
import { AppError } from '../../errors'
import { isId } from '../../ids'
import { largeRead } from '../../large-reads'
import { recordOfPause } from '../../run-store/conditions'
import { findDefinition, partAsRun } from '../../run-store/definition'
import { maskWords } from '../../runs/mask-words'
import { type RunRow, signalOf, withoutPreset } from '../../runs/present'
import { retryPointOf } from '../../runs/retry-point'
import { runMasker } from '../../runs/run-masker'
import { isLarge } from '../../runs/stored-run'
import { findStepType } from '../../steps/registry'
import type { RunMasker } from '../../vault/hide'
import type { Masker } from '../../vault/mask'
import { type AnswererName, nameActors, nameAnswerers } from '../actors'
import { answerAsDeclared, asDeclared, labelsOf } from '../as-declared'
import type { Ended } from '../tasks/ended'
import { readHeld } from '../tasks/held'
import { readPeople } from '../tasks/people'
import { readRemarks } from '../tasks/remarks'
import { type CutValue, PREVIEW_CHARS, showStart, type ValueStart, valueStart } from '../value'
import { NUMBER_OF_RUN } from '../workflows/numbers'
import { countAlike } from './alike'
import { answerLabel, expired } from './answer-label'
import { lastLines, readFailureLog } from './failure-log'
import { readRelative } from './family'
import { stateOf } from './filter'
import { hiddenFields } from './hidden'
import { countDone, readAtFailure, readRepeated } from './steps-done'
import { readTurns } from './turns'

/** How many of the latest to show. */
const ANSWERS = 50
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
  const [open, done, repeated, again, workflow, definition, hiding] = await Promise.all([
    readOpenVisits(ctx, run.id),
    countDone(ctx, run.id),
    readRepeated(ctx, run.id),
    readAgain(ctx, run.id),
    readWorkflow(ctx, run.workflowId),
    findDefinition(ctx, run.workflowId, run.workflowVersion),
    runMasker(ctx, run),
  ])
  // Only people who may answer see the author's values in a question.
  const masker = hiding.vault
  const failed = run.outcome === 'failed' || run.outcome === 'timed_out'
  const retry = definition && run.status === 'failed' ? await readRetry(ctx, run, definition) : null
  const waiting = run.endTime ? [] : asked.filter(({ pause }) => !pause.answeredAt)
  const undecided = asked.filter(({ pause }) => pause.answeredAt && pause.signal)
  const [turns, atFailure, alike, failureLog, parent, peopleOf, heldAt] = await Promise.all([
    definition ? readTurns(ctx, run.id, definition, hiding) : [],
    failed ? readAtFailure(ctx, run.id, retry, masker) : null,
    run.error && run.outcome === 'failed' ? countAlike(ctx, run, run.error) : null,
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
  const [nameOf, answererOf, remarksOf] = await Promise.all([
    nameActors(ctx, [run.startedBy, cancellation?.requestedBy ?? null]),
    nameAnswerers(
      ctx,
      asked.map(({ pause }) => pause),
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
    /** Other runs that failed at the same step with the same code. */
    alike,
    pauses: waiting.map((row) => ({
      ...presentOpen(row, masker),
      people: peopleOf(row.pause.id),
      remarks: remarksOf(row.pause.id),
      held: heldAt?.(row.pause.id, signalOf(row.pause)).held ?? null,
    })),
    answers: asked
      .flatMap(({ pause, stepName }) =>
        presentAnswer(pause, stepName, formOf(definition, pause.stepId), hiding, answererOf).map((answer) => ({
          ...answer,
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

function readRetry(ctx: ServiceContext, { id, part }: Pick<RunRow, 'id' | 'part'>, definition: Definition) {
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

const NOTHING: ValueStart = { size: 4, text: 'null' }
const NO_ANSWER: CutValue = { size: 4, value: null }

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

/** The open pauses, and the latest that were answered, expired, or were withdrawn after a vote. */
function readPauses(ctx: ServiceContext, runId: string) {
  const ofRun = and(eq(pauses.tenantId, ctx.tenantId), eq(pauses.runId, runId))
  const voted = sql`exists (select from ${pauseVotes} v
    where v.tenant_id = ${pauses.tenantId} and v.run_id = ${pauses.runId} and v.pause_id = ${pauses.id})`
  const latest = ctx.db
    .select({ id: pauses.id })
    .from(pauses)
    .where(and(ofRun, isNotNull(pauses.signal), isNotNull(pauses.answeredAt), or(isNotNull(pauses.answer), voted)))
    .orderBy(desc(pauses.createdAt), desc(pauses.id))
    .limit(ANSWERS)
  return ctx.db
    .select({
      pause: {
        id: pauses.id,
        stepId: pauses.stepId,
        kind: pauses.kind,
        asks: sql<boolean>`${pauses.signal} is not null`,
        eventName: pauses.eventName,
        eventKey: pauses.eventKey,
        childRunId: pauses.childRunId,
        createdAt: pauses.createdAt,
        dueAt: pauses.dueAt,
        answeredAt: pauses.answeredAt,
        answeredBy: pauses.answeredBy,
        answeredVia: pauses.answeredVia,
        title: sql<string | null>`${pauses.signal}->>'title'`,
        /** Only of a task without an answer. */
        signal: sql<PauseSignal | null>`case when ${pauses.answer} is null or ${expired} then ${pauses.signal} end`,
        expired,
        answer: valueStart(pauses.answer),
        label: answerLabel,
        // Without what was filled in if the answer is too large to be shown.
        votes: sql<Vote[] | null>`case when octet_length(${pauses.answer}::text) <= ${PREVIEW_CHARS}::int
          then ${pauses.answer}->'votes' else (select jsonb_agg(v - 'data' - 'remark')
            from jsonb_array_elements(${pauses.answer}->'votes') v) end`,
        actionId: sql<string | null>`${pauses.answer}->>'actionId'`,
      },
      stepName: stepRecords.stepName,
    })
    .from(pauses)
    .leftJoin(stepRecords, recordOfPause)
    .where(and(ofRun, or(isNull(pauses.answeredAt), inArray(pauses.id, latest))))
    .orderBy(asc(pauses.createdAt), asc(pauses.id))
}

function readOpenVisits(ctx: ServiceContext, runId: string) {
  return ctx.db
    .select({
      stepId: stepRecords.stepId,
      stepName: stepRecords.stepName,
      stepType: stepRecords.stepType,
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
  const attempts = visit.attempts
  const last = attempts.at(-1)
  if (last?.error === undefined) return []
  const due = Date.parse(last.endTime) + (last.retryInMs ?? 0)
  const nextAt = new Date(due).toISOString()
  const { stepId, stepName } = visit
  const words = maskWords({ stepId, stepName, attempt: last.attempt, error: last.error, nextAt }, masker)
  return [{ ...words, log: lastLines(last.logs, masker) }]
}

function presentWorking(visit: { stepId: string; stepName: string; stepType: string }, masker: Masker) {
  if (findStepType(visit.stepType)?.mode === 'pause') return []
  return [maskWords({ stepId: visit.stepId, stepName: visit.stepName }, masker)]
}

function presentTimer({ pause, stepName }: Asked, masker: Masker) {
  const { stepId, dueAt, eventName, eventKey, childRunId } = pause
  const words = maskWords({ stepId, stepName: stepName ?? stepId, eventName, eventKey }, masker)
  return { ...words, childRunId, dueAt: dueAt?.toISOString() ?? null }
}

type Asked = Awaited<ReturnType<typeof readPauses>>[number]

function presentOpen({ pause, stepName }: Asked, masker: Masker) {
  const { id, stepId, createdAt, dueAt } = pause
  const times = { createdAt: createdAt.toISOString(), dueAt: dueAt?.toISOString() ?? null }
  return maskWords(
    { id, stepId, stepName: stepName ?? stepId, ...times, signal: withoutPreset(signalOf(pause)) },
    masker,
  )
}

function presentAnswer(
  pause: Asked['pause'],
  stepName: string | null,
  form: Fields,
  masker: RunMasker,
  answererOf: (pause: Asked['pause']) => AnswererName | null,
) {
  if (!pause.answeredAt) return []
  const ended: Ended = pause.expired ? 'expired' : pause.answer === null ? 'withdrawn' : 'answered'
  return [
    {
      id: pause.id,
      stepId: pause.stepId,
      ended,
      ...maskWords({ stepName: stepName ?? pause.stepId, title: pause.title, label: pause.label }, masker),
      kind: pause.kind,
      createdAt: pause.createdAt.toISOString(),
      answeredAt: pause.answeredAt.toISOString(),
      answeredBy: ended === 'answered' ? answererOf(pause) : null,
      answer: ended === 'answered' ? answerAsDeclared(showStart(pause.answer ?? NOTHING, masker), form) : NO_ANSWER,
      /** The form's labels of the fields. */
      labels: labelsOf(form, masker.vault),
      /** If votes decided: who voted for the chosen action, the number of votes, and what was filled in with each. */
      votes: pause.votes && wonBy(masker.json(pause.votes), masker.text(pause.actionId ?? ''), Object.keys(form)),
    },
  ]
}

function wonBy(votes: Vote[], chosen: string, fields: readonly string[]) {
  return {
    cast: votes.length,
    names: votes.filter(({ actionId }) => actionId === chosen).map(({ name }) => name),
    filledIn: votes.flatMap(({ by, name, data }) => (data ? [{ by, name, data: inOrder(data, fields) }] : [])),
  }
}
