import type { pauses, runs, stepRecords } from '@/db/schema/runs'
import { placeIn } from '../definition/branches'
import type { JsonObject } from '../definition/json'
import type { Vote } from '../definition/people'
import type { PauseSignal, RunData } from '../definition/run'
import type { Fields } from '../definition/schema'
import { withoutPresets } from '../definition/sensitive'
import { ImpossibleState } from '../errors'
import { wholeAttempts } from '../run-store/attempts'
import type { Masker } from '../vault/mask'
import { formsAsked, withForms } from './asked-fields'
import { decisionParts } from './decision-parts'
import { maskWords } from './mask-words'

export type RunRow = typeof runs.$inferSelect
export type StepRecordRow = typeof stepRecords.$inferSelect
export type PauseRow = typeof pauses.$inferSelect

/** A row as `to_jsonb` returns it, with times as text. */
export type Jsonb<Row> = {
  [K in keyof Row]: Row[K] extends Date ? string : Row[K] extends Date | null ? string | null : Row[K]
}

/** The question of a pause; only timers have none. */
export function signalOf(pause: Pick<PauseRow, 'id' | 'signal'>): PauseSignal {
  if (pause.signal === null) throw new ImpossibleState('pause-without-signal', `the pause ${pause.id} asks nothing`)
  return pause.signal
}

export type StoredStep = Jsonb<
  Pick<
    StepRecordRow,
    | 'seq'
    | 'branch'
    | 'stepId'
    | 'stepType'
    | 'stepName'
    | 'status'
    | 'startTime'
    | 'endTime'
    | 'inputData'
    | 'outputData'
    | 'error'
    | 'errorCode'
    | 'usage'
    | 'visit'
    | 'attempt'
    | 'attempts'
    | 'handled'
    | 'exit'
    | 'reminders'
  >
> & {
  /** The size of a value that was not read because the response would be too large. */
  cutInput: number | null
  cutOutput: number | null
}

/** An open pause, with its votes if it needs any. */
export type StoredPause = Pick<
  Jsonb<PauseRow>,
  'id' | 'branch' | 'stepId' | 'signal' | 'createdAt' | 'dueAt' | 'remindAt'
> & {
  votes?: StoredVote[] | null
}

interface StoredVote extends Omit<Vote, 'data' | 'remark'> {
  actionValue: string
  data: JsonObject | null
  remark: string | null
  /** The API key that named them. */
  via: string | null
  at: string
}

export interface StoredRun {
  run: Omit<RunRow, 'input' | 'context' | 'smallData'> & { data: RunData | null }
  steps: StoredStep[]
  open: StoredPause[]
  /** Its moves to other versions, oldest first; null without any. */
  moves: { fromVersion: number; toVersion: number; at: string; by: string }[] | null
  /** The number of records, including those not read. */
  total: number
  cutData: number | null
  cutResult: number | null
}

/** Replaces a value that is too large for the response; links to the full value. */
export function cutMarker(runId: string, size: number, query: string) {
  return { $cut: true as const, size, href: `/api/workflow/value/${runId}?${query}` }
}

/**
 * The run as the API shows it, masked, because a caller may have sent a value that was only later put into the vault.
 */
export function presentRun({ run, steps, open, moves, total, cutData, cutResult }: StoredRun, masker: Masker) {
  const words = maskWords(run, masker)
  const pauseSignals = run.status === 'paused' ? open.map((pause) => presentPause(pause, masker)) : []
  return {
    runId: run.id,
    workflowId: run.workflowId,
    workflowVersion: run.workflowVersion,
    workflowName: words.workflowName,
    ...(words.businessKey === null ? {} : { businessKey: words.businessKey }),
    status: run.status,
    outcome: run.outcome,
    currentStepId: currentStepId(run, steps, open),
    pauseSignal: pauseSignals[0] ?? null,
    pauseSignals,
    data: cutData === null ? masker.json(run.data) : cutMarker(run.id, cutData, 'field=data'),
    stepExecutionHistory: steps.map((step) => presentStep(run.id, step, masker)),
    ...(total > steps.length ? { historyTotal: total, historyHref: `/api/workflow/history/${run.id}` } : {}),
    result: cutResult === null ? masker.json(run.result) : cutMarker(run.id, cutResult, 'field=result'),
    error: words.error,
    startTime: run.startTime.toISOString(),
    ...(run.endTime
      ? { endTime: run.endTime.toISOString(), durationMs: run.endTime.getTime() - run.startTime.getTime() }
      : {}),
    startedBy: run.startedBy,
    startedVia: run.startedVia,
    retryOf: run.retryOf,
    ...(moves ? { moves: moves.map((move) => ({ ...move, at: iso(move.at) })) } : {}),
    ...(run.parentRunId === null ? {} : { parentRunId: run.parentRunId }),
    cancellation: words.cancellation,
  }
}

/** The step of the pause shown first, otherwise the step the run is at or ended at. */
function currentStepId(run: StoredRun['run'], steps: StoredStep[], open: StoredPause[]): string | null {
  if (run.status === 'paused' && open[0]) return open[0].stepId
  const running = steps.findLast((step) => step.status === 'running')
  return running?.stepId ?? run.currentStepId
}

export function presentStep(runId: string, step: StoredStep, masker: Masker) {
  const shown = (value: JsonObject | null, cut: number | null, field: string) =>
    cut === null ? masker.json(value ?? {}) : cutMarker(runId, cut, `record=${step.seq}&field=${field}`)
  const { attempt, attempts } = wholeAttempts(step)
  const { stepName, error, usage } = maskWords(step, masker)
  return {
    stepId: step.stepId,
    stepType: step.stepType,
    stepName,
    status: step.status,
    startTime: iso(step.startTime),
    ...(step.endTime === null
      ? {}
      : { endTime: iso(step.endTime), duration: Math.max(0, Date.parse(step.endTime) - Date.parse(step.startTime)) }),
    inputData: shown(step.inputData, step.cutInput, 'input'),
    outputData: shown(step.outputData, step.cutOutput, 'output'),
    ...(error === null ? {} : { error, errorCode: step.errorCode }),
    ...(step.handled === true ? { handled: true } : {}),
    ...(step.exit === null ? {} : { exit: step.exit }),
    ...(step.reminders === null ? {} : { reminders: masker.json(step.reminders) }),
    ...(usage === null ? {} : { usage }),
    visit: step.visit,
    ...placeIn(step.branch),
    attempt,
    ...(attempts.length > 1 || (attempts.length === 1 && step.status === 'running')
      ? { attempts: masker.json(attempts) }
      : {}),
  }
}

/** The masker of a run, and the fields that it hides, if any. */
type Hiding = Masker & { hides?: ReadonlySet<string> }

export function presentPause(pause: Omit<StoredPause, 'stepId'>, masker: Hiding) {
  return {
    ...(pause.signal && presentSignal(pause.signal, masker)),
    id: pause.id,
    ...placeIn(pause.branch),
    createdAt: iso(pause.createdAt),
    expiresAt: pause.dueAt === null ? null : iso(pause.dueAt),
    ...(pause.remindAt === null ? {} : { remindAt: iso(pause.remindAt) }),
    ...(pause.votes ? { votes: pause.votes.map((vote) => presentVote(vote, masker)) } : {}),
  }
}

/** The question of a pause. A hidden field is still asked for, but without its default value. */
export function presentSignal(signal: PauseSignal, masker: Hiding): PauseSignal {
  if (!masker.hides?.size || formsAsked(signal).length === 0) return masker.json(signal)
  // One by one, because the names of hidden fields are not hidden.
  const shown = (fields: Fields): Fields =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, masker.json(field)]))
  const open = withoutPreset(signal)
  if (open.type === 'collect_inputs') {
    const { fields, ...rest } = open
    return { ...masker.json(rest), fields: shown(fields) }
  }
  const { actions, ...rest } = open
  const offered = actions.map(({ fields, ...action }) => ({
    ...masker.json(action),
    ...(fields ? { fields: shown(fields) } : {}),
  }))
  return { ...masker.json(rest), actions: offered }
}

/**
 * The question of a pause as people see it: as its author wrote it, without the defaults of secret and sensitive
 * fields.
 */
export function withoutPreset<S extends PauseSignal>(signal: S): S {
  const open = withForms(signal, withoutPresets)
  if (!('call' in open)) return open
  // People see the arguments as rows, without what the run hides.
  const { call: _call, ...shown } = open
  return shown as S
}

function presentVote({ via, at, data, remark, ...vote }: StoredVote, masker: Masker) {
  return {
    ...masker.json({ ...vote, ...decisionParts({ data, remark }) }),
    ...(via === null ? {} : { via }),
    at: iso(at),
  }
}

function iso(text: string): string {
  return new Date(text).toISOString()
}

export type PresentedRun = ReturnType<typeof presentRun>
