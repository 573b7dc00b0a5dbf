import type { ServiceContext, TransactionContext } from '../context'
import { AppError } from '../errors'
import { getRunRow } from '../interpreter/find-run'
import { tenantMasker } from '../vault/masker'
import { maskWords } from './mask-words'
import type { RunRow } from './present'
import type { StopRun } from './schema'

/**
 * The run that is to stop, locked.
 * @throws AppError RUN_NOT_FOUND, also when the workflow named is another one; RUN_ALREADY_ENDED when it came to
 * its own end, which nothing changes any more
 */
export async function lockRunToStop(tx: TransactionContext, { runId, workflowId }: StopRun): Promise<RunRow> {
  const run = await getRunRow(tx, runId, { lock: true })
  if (workflowId && workflowId !== run.workflowId) throw new AppError('RUN_NOT_FOUND')
  if (run.endTime && run.outcome !== 'cancelled' && run.outcome !== 'terminated') {
    throw new AppError('RUN_ALREADY_ENDED', {
      details: [{ message: `The run is ${run.status}.`, status: run.status, outcome: run.outcome }],
    })
  }
  return run
}

/** What cancel and terminate answer: the run as it stands. */
export async function presentStop(ctx: ServiceContext, run: RunRow) {
  const { cancellation } = maskWords(run, await tenantMasker(ctx))
  return {
    success: true,
    runId: run.id,
    workflowId: run.workflowId,
    status: run.status,
    outcome: run.outcome,
    reason: cancellation?.reason ?? null,
  }
}
