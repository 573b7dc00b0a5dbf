import { authorize, seesHidden } from '../auth/policy'
import type { ServiceContext } from '../context'
import { inStoredOrder, type JsonLike, type JsonValue } from '../definition/json'
import type { DoneStep, NewRecord } from '../interpreter/index'
import { type RememberedRecord, recallRun } from '../interpreter/index'
import { MAIN_BRANCH } from '../run-store/names'
import { maskerFrom } from '../vault/masker'
import { type PresentedRun, presentRun, type StoredStep } from './present'

/**
 * A run that ended in this process, presented byte for byte as a read would, without one. Null if it must be read.
 * @throws AppError FORBIDDEN
 */
export function rememberedRun(ctx: ServiceContext, runId: string): PresentedRun | null {
  authorize(ctx, 'run:read')
  // Hiding values from a caller takes more than the memory has.
  const found = ctx.reach || seesHidden(ctx) ? null : recallRun(runId)
  if (found?.run.tenantId !== ctx.tenantId) return null
  const { run, data, result, records, vault } = found
  const { error, cancellation } = run
  const stored = {
    run: { ...run, error: asStored(error), cancellation: asStored(cancellation), data, result },
    steps: records.map(storedStep),
    open: [],
    total: records.length,
    cutData: null,
    cutResult: null,
    // A process forgets a run that is moved.
    moves: null,
  }
  return presentRun(stored, maskerFrom(ctx, vault))
}

function storedStep({ inserted, done }: RememberedRecord, index: number): StoredStep {
  const { stepId, visit, stepType, stepName, startTime, inputData } = inserted
  return {
    // Only the order counts, because nothing is cut.
    seq: index,
    branch: MAIN_BRANCH,
    stepId,
    visit,
    stepType,
    stepName,
    startTime: startTime.toISOString(),
    inputData: asStored(inputData),
    cutInput: null,
    cutOutput: null,
    // A run with some is not remembered.
    reminders: null,
    ...(done ? completed(inserted, done) : insertedWhole(inserted)),
  }
}

/** A record that was completed after it was inserted. */
function completed({ attempt }: NewRecord, { failure, work, endedAt, outputData, exit = null }: DoneStep) {
  return {
    status: failure ? ('failed' as const) : ('completed' as const),
    endTime: endedAt.toISOString(),
    outputData,
    error: failure?.message ?? null,
    errorCode: failure?.code ?? null,
    handled: failure?.handled || null,
    exit,
    attempt: work?.attempt ?? attempt,
    attempts: asStored((work?.attempts ?? []).map(({ logs: _logs, ...attempt }) => attempt)),
    usage: asStored(work?.usage ?? null),
  }
}

function insertedWhole({ status, endTime, outputData, error, errorCode, handled, exit, attempt }: NewRecord) {
  const ended = endTime?.toISOString() ?? null
  return { status, endTime: ended, outputData, error, errorCode, handled, exit, attempt, attempts: [], usage: null }
}

/** Converts a value from its writer's order to stored order, as a read returns it. */
function asStored<T extends JsonLike>(value: T): T {
  return inStoredOrder(value as JsonValue) as T
}
