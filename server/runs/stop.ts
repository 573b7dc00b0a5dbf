import { record } from '../audit/record'
import type { ServiceContext, TransactionContext } from '../context'
import { AppError } from '../errors'
import { holdRun } from '../run-store/held'
import { tenantMasker } from '../vault/masker'
import { maskWords } from './mask-words'
import type { RunRow } from './present'
import { callerMaskerOf } from './run-masker'
import type { StopRun } from './schema'

/**
 * The run to stop, held.
 * @throws AppError RUN_NOT_FOUND, also when it belongs to another workflow than the given one; RUN_ALREADY_ENDED when
 * it ended by itself, which is final
 */
export async function holdRunToStop(
  tx: TransactionContext,
  { runId, workflowId }: StopRun,
): ReturnType<typeof holdRun> {
  const { held, run } = await holdRun(tx, runId)
  if (workflowId && workflowId !== run.workflowId) throw new AppError('RUN_NOT_FOUND')
  if (run.endTime && run.outcome !== 'cancelled' && run.outcome !== 'terminated') {
    throw new AppError('RUN_ALREADY_ENDED', {
      details: [{ message: `The run is ${run.status}.`, status: run.status, outcome: run.outcome }],
    })
  }
  return { held, run }
}

/** The reason is a text of the run, so it is masked like all others. */
export async function recordStop(
  tx: TransactionContext,
  action: 'run.cancelled' | 'run.terminated',
  { id, workflowName: name }: RunRow,
  reason: string | null | undefined,
): Promise<void> {
  await record(tx, action, { id, name }, reason ? { reason: (await tenantMasker(tx)).text(reason) } : {})
}

/** The response of cancel and terminate: the run's current state. */
export async function presentStop(ctx: ServiceContext, run: RunRow) {
  const { cancellation } = maskWords(run, await callerMaskerOf(ctx, run.id))
  return {
    success: true,
    runId: run.id,
    workflowId: run.workflowId,
    status: run.status,
    outcome: run.outcome,
    reason: cancellation?.reason ?? null,
  }
}
