import type { pauses, runs, stepRecords } from '@/db/schema/runs'

export type RunRow = typeof runs.$inferSelect
export type StepRecordRow = typeof stepRecords.$inferSelect
export type PauseRow = typeof pauses.$inferSelect

/** A row as `to_jsonb` gives it: moments are text. */
export type Jsonb<Row> = {
  [K in keyof Row]: Row[K] extends Date ? string : Row[K] extends Date | null ? string | null : Row[K]
}

/** The run as the API shows it. */
export function presentRun(run: RunRow, steps: Jsonb<StepRecordRow>[], open: Jsonb<PauseRow>[]) {
  const pauseSignals = run.status === 'paused' ? open.map(presentPause) : []
  return {
    runId: run.id,
    workflowId: run.workflowId,
    workflowVersion: run.workflowVersion,
    workflowName: run.workflowName,
    status: run.status,
    outcome: run.outcome,
    currentStepId: currentStepId(run, steps, open),
    pauseSignal: pauseSignals[0] ?? null,
    pauseSignals,
    data: run.data,
    stepExecutionHistory: steps.map(presentStep),
    result: run.result ?? null,
    error: run.error ?? null,
    startTime: run.startTime.toISOString(),
    ...(run.endTime
      ? { endTime: run.endTime.toISOString(), durationMs: run.endTime.getTime() - run.startTime.getTime() }
      : {}),
    startedBy: run.startedBy,
    retryOf: run.retryOf,
    cancellation: run.cancellation ?? null,
  }
}

/** The step that owns the shown pause, else the one the run is at or ended on. */
function currentStepId(run: RunRow, steps: Jsonb<StepRecordRow>[], open: Jsonb<PauseRow>[]): string | null {
  if (run.status === 'paused' && open[0]) return open[0].stepId
  const running = steps.findLast((step) => step.status === 'running')
  return running?.stepId ?? run.currentStepId
}

function presentStep(step: Jsonb<StepRecordRow>) {
  const attempts = step.attempts as { attempt: number }[]
  return {
    stepId: step.stepId,
    stepType: step.stepType,
    stepName: step.stepName,
    status: step.status,
    startTime: iso(step.startTime),
    ...(step.endTime === null
      ? {}
      : { endTime: iso(step.endTime), duration: Math.max(0, Date.parse(step.endTime) - Date.parse(step.startTime)) }),
    inputData: step.inputData ?? {},
    outputData: step.outputData ?? {},
    ...(step.error === null ? {} : { error: step.error, errorCode: step.errorCode }),
    ...(step.usage === null ? {} : { usage: step.usage }),
    visit: step.visit,
    attempt: Math.max(1, step.attempt),
    ...(attempts.length > 1 || (attempts.length === 1 && step.status === 'running') ? { attempts } : {}),
  }
}

function presentPause(pause: Jsonb<PauseRow>) {
  return {
    ...(pause.signal as object),
    id: pause.id,
    createdAt: iso(pause.createdAt),
    expiresAt: pause.dueAt === null ? null : iso(pause.dueAt),
  }
}

function iso(text: string): string {
  return new Date(text).toISOString()
}

export type PresentedRun = ReturnType<typeof presentRun>
