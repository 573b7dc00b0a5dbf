import { and, desc, lte } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { graphOf } from '../definition/graph'
import type { Definition } from '../definition/schema'
import { AppError } from '../errors'
import { partAsRun } from '../run-store/definition'
import { getRunRow } from '../run-store/find-run'
import { findVersionToRun } from '../workflows/find-version-to-run'
import type { RunRow } from './present'
import { continueRun, dataBefore, failedAt, ofMainPath } from './progress'

/**
 * Starts a new run that continues where a failed one stopped, on the same version and with the output of its completed
 * steps, which do not run again. Steps whose failure was handled do not run again either. A step that ran branches runs
 * all of them again. The old run stays as it is.
 * @throws AppError RUN_NOT_FOUND, CONFLICT, WORKFLOW_ARCHIVED, WORKFLOW_NOT_FOUND
 */
export async function retryRun(ctx: ServiceContext, { runId }: { runId: string }) {
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
    const before = failedAt(tx, old.id)
    const [last, kept] = await Promise.all([lastOf(tx, old), dataBefore(tx, old, before)])
    const firstStep = stepToRetry(definition, last)
    const context = tx.trusted ?? old.context
    const retried = await continueRun(tx, old, before, { definition, ...kept, firstStep, context })
    await record(tx, 'run.retried', { id: old.id, name: old.workflowName }, { newRun: retried })
    return { success: true, runId: retried, retryOf: old.id }
  })
}

type Last = { stepId: string; status: string; handled: boolean | null; exit: string | null }

/** The last step of the main path, without the steps of the failure path after it. */
async function lastOf(tx: TransactionContext, old: RunRow): Promise<Last | null> {
  const { stepId, status, handled, exit } = stepRecords
  const [last] = await tx.db
    .select({ stepId, status, handled, exit })
    .from(stepRecords)
    .where(and(ofMainPath(tx, old.id), lte(stepRecords.seq, failedAt(tx, old.id))))
    .orderBy(desc(stepRecords.seq))
    .limit(1)
  return last ?? null
}

/** @throws AppError CONFLICT */
function stepToRetry(definition: Definition, last: Last | null): string {
  if (last?.status === 'failed' && !last.handled) return last.stepId
  // It stopped between two steps. The walk may still be where it was before the last exit, so that exit says what follows.
  const next = last === null ? definition.initialStep : graphOf(definition).target(last.stepId, last.exit ?? 'next')
  if (next !== null) return next
  throw new AppError('CONFLICT', { message: 'The run has no step left to retry' })
}
