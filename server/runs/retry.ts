import { copyTurn } from '../agents/journal/copy'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { partAsRun } from '../run-store/definition'
import { getRunRow } from '../run-store/find-run'
import { idempotencyKeyOf, MAIN_BRANCH } from '../run-store/names'
import { findVersionToRun } from '../workflows/find-version-to-run'
import { continueRun, dataBefore } from './progress'
import { retryPointOf } from './retry-point'

/**
 * Starts a new run that continues where a failed one stopped, on the same version and with the output of its completed
 * steps, which do not run again. The turn of an agent that was cut short continues after its recorded calls. Steps
 * whose failure was handled do not run again either, unless that failure is why the run ended. A step that ran branches
 * runs all of them again. The old run stays as it is.
 * @param options.useful refuse a retry that would only end in the same way
 * @throws AppError RUN_NOT_FOUND, CONFLICT, WORKFLOW_ARCHIVED, WORKFLOW_NOT_FOUND
 */
export async function retryRun(ctx: ServiceContext, { runId }: { runId: string }, { useful = false } = {}) {
  authorize(ctx, 'run:retry')
  return withTransaction(ctx, async (tx) => {
    const old = await getRunRow(tx, runId)
    if (old.status !== 'failed') {
      throw new AppError('CONFLICT', {
        message: 'Only a failed run can be retried',
        details: [{ message: `The run is ${old.status}.`, status: old.status }],
      })
    }
    const { definition: whole } = await findVersionToRun(tx, old.workflowId, String(old.workflowVersion))
    const definition = old.part ? partAsRun(whole, old.part) : whole
    const point = await retryPointOf(tx, old.id, definition)
    if (point === null) throw new AppError('CONFLICT', { message: 'The run has no step left to retry' })
    if (useful && point.same) throw new AppError('CONFLICT', { message: 'A retry would end in the same way' })
    const { stepId: firstStep, before } = point
    const kept = await dataBefore(tx, old, before)
    const context = tx.trusted ?? old.context
    const retried = await continueRun(tx, old, before, { definition, ...kept, firstStep, context })
    const walk = { runId: old.id, branch: MAIN_BRANCH }
    const keyOf = (visit: number) => idempotencyKeyOf(walk, { stepId: firstStep, visit })
    await copyTurn(tx, { from: old.id, to: retried, branch: MAIN_BRANCH, stepId: firstStep, keyOf })
    await record(tx, 'run.retried', { id: old.id, name: old.workflowName }, { newRun: retried })
    return { success: true, runId: retried, retryOf: old.id }
  })
}
