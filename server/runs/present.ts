import type { pauses, runs, stepRecords } from '@/db/schema/runs'
import type { JsonValue } from '../definition/json'
import type { Masker } from '../vault/mask'

export type RunRow = typeof runs.$inferSelect
export type StepRecordRow = typeof stepRecords.$inferSelect
export type PauseRow = typeof pauses.$inferSelect

/** A row as `to_jsonb` gives it: moments are text. */
export type Jsonb<Row> = {
  [K in keyof Row]: Row[K] extends Date ? string : Row[K] extends Date | null ? string | null : Row[K]
}

export type StoredStep = Jsonb<
  Pick<
    StepRecordRow,
    | 'seq'
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
  >
> & {
  /** The size of a value that was not read because the answer would be too large. */
  cutInput: number | null
  cutOutput: number | null
}

export interface StoredRun {
  run: Omit<RunRow, 'input' | 'context'>
  steps: StoredStep[]
  open: Jsonb<PauseRow>[]
  /** How many records there are, with those that were not read. */
  total: number
  cutData: number | null
  cutResult: number | null
}

/** What stands in the place of a value that is too large for the answer, and where all of it can be read. */
export function cutMarker(runId: string, size: number, query: string) {
  return { $cut: true as const, size, href: `/api/workflow/value/${runId}?${query}` }
}

/** The run as the API shows it. What a caller sent may hold a secret that only later came into the vault. */
export function presentRun({ run, steps, open, total, cutData, cutResult }: StoredRun, masker: Masker) {
  const masked = (value: unknown) => masker.json((value ?? null) as JsonValue)
  const pauseSignals = run.status === 'paused' ? open.map((pause) => presentPause(pause, masker)) : []
  return {
    runId: run.id,
    workflowId: run.workflowId,
    workflowVersion: run.workflowVersion,
    workflowName: masker.text(run.workflowName),
    status: run.status,
    outcome: run.outcome,
    currentStepId: currentStepId(run, steps, open),
    pauseSignal: pauseSignals[0] ?? null,
    pauseSignals,
    data: cutData === null ? masked(run.data) : cutMarker(run.id, cutData, 'field=data'),
    stepExecutionHistory: steps.map((step) => presentStep(run.id, step, masker)),
    ...(total > steps.length ? { historyTotal: total, historyHref: `/api/workflow/history/${run.id}` } : {}),
    result: cutResult === null ? masked(run.result) : cutMarker(run.id, cutResult, 'field=result'),
    error: masked(run.error),
    startTime: run.startTime.toISOString(),
    ...(run.endTime
      ? { endTime: run.endTime.toISOString(), durationMs: run.endTime.getTime() - run.startTime.getTime() }
      : {}),
    startedBy: run.startedBy,
    retryOf: run.retryOf,
    cancellation: masked(run.cancellation),
  }
}

/** The step that owns the shown pause, else the one the run is at or ended on. */
function currentStepId(run: StoredRun['run'], steps: StoredStep[], open: Jsonb<PauseRow>[]): string | null {
  if (run.status === 'paused' && open[0]) return open[0].stepId
  const running = steps.findLast((step) => step.status === 'running')
  return running?.stepId ?? run.currentStepId
}

export function presentStep(runId: string, step: StoredStep, masker: Masker) {
  const shown = (value: unknown, cut: number | null, field: string) =>
    cut === null ? masker.json((value ?? {}) as JsonValue) : cutMarker(runId, cut, `record=${step.seq}&field=${field}`)
  const attempts = masker.json(step.attempts as JsonValue) as unknown as { attempt: number }[]
  return {
    stepId: step.stepId,
    stepType: step.stepType,
    stepName: masker.text(step.stepName),
    status: step.status,
    startTime: iso(step.startTime),
    ...(step.endTime === null
      ? {}
      : { endTime: iso(step.endTime), duration: Math.max(0, Date.parse(step.endTime) - Date.parse(step.startTime)) }),
    inputData: shown(step.inputData, step.cutInput, 'input'),
    outputData: shown(step.outputData, step.cutOutput, 'output'),
    ...(step.error === null ? {} : { error: masker.text(step.error), errorCode: step.errorCode }),
    ...(step.usage === null ? {} : { usage: step.usage }),
    visit: step.visit,
    attempt: Math.max(1, step.attempt),
    ...(attempts.length > 1 || (attempts.length === 1 && step.status === 'running') ? { attempts } : {}),
  }
}

function presentPause(pause: Jsonb<PauseRow>, masker: Masker) {
  return {
    ...(masker.json(pause.signal as JsonValue) as object),
    id: pause.id,
    createdAt: iso(pause.createdAt),
    expiresAt: pause.dueAt === null ? null : iso(pause.dueAt),
  }
}

function iso(text: string): string {
  return new Date(text).toISOString()
}

export type PresentedRun = ReturnType<typeof presentRun>
