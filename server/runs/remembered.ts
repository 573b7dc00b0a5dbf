import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { inStoredOrder, type JsonLike, type JsonValue } from '../definition/json'
import { MAIN_BRANCH } from '../interpreter/receipt'
import { type RememberedRecord, recall } from '../interpreter/run-memory'
import { maskerFrom } from '../vault/masker'
import { type PresentedRun, presentRun, type StoredStep } from './present'

/**
 * A run that ended in this process, presented byte for byte as a read would, without one. Null if it must be read.
 * @throws AppError FORBIDDEN
 */
export function rememberedRun(ctx: ServiceContext, runId: string): PresentedRun | null {
  authorize(ctx, 'run:read')
  const found = ctx.reach ? null : recall(runId)
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
  }
  return presentRun(stored, maskerFrom(ctx, vault))
}

function storedStep(record: RememberedRecord, index: number): StoredStep {
  const { startTime, endTime, inputData, attempts, usage } = record
  return {
    ...record,
    // Only the order counts, because nothing is cut.
    seq: index,
    branch: MAIN_BRANCH,
    startTime: startTime.toISOString(),
    endTime: endTime?.toISOString() ?? null,
    inputData: asStored(inputData),
    attempts: asStored(attempts),
    usage: asStored(usage),
    cutInput: null,
    cutOutput: null,
  }
}

/** What was written in the order of its writer, as it will be read. */
function asStored<T extends JsonLike>(value: T): T {
  return inStoredOrder(value as JsonValue) as T
}
