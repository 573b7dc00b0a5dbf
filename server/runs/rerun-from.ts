import { and, desc, eq, sql } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import type { TransactionContext } from '../context'
import type { JsonObject } from '../definition/json'
import type { Definition } from '../definition/schema'
import { AppError } from '../errors'
import { insertRun } from '../interpreter/insert'
import { MAIN_BRANCH } from '../interpreter/receipt'
import type { RunRow } from './present'
import { addedBefore, copyBefore } from './progress'

/**
 * Starts a run that goes on at a step to which an earlier one came, as it came there last: with the outputs from before,
 * and with some fields of the run data changed.
 * @throws AppError INVALID_INPUT if the run never came to the step on its main path; WORKFLOW_ARCHIVED
 */
export async function rerunFrom(
  tx: TransactionContext,
  old: RunRow,
  definition: Definition,
  { fromStepId, edits }: { fromStepId: string; edits: JsonObject },
): Promise<string> {
  const before = sql`${await positionOf(tx, old, fromStepId)}`
  const added = await addedBefore(tx, old.id, before)
  // Not planned: its own records follow the copied ones.
  const runId = await insertRun(tx, {
    workflowId: old.workflowId,
    workflowVersion: old.workflowVersion,
    definition,
    input: old.input,
    data: { ...old.input, ...added, ...edits },
    edits,
    firstStep: fromStepId,
    context: tx.trusted ?? old.context,
    retryOf: old.id,
    test: old.startedVia === 'test',
  })
  if (runId === null) throw new AppError('WORKFLOW_ARCHIVED')
  await copyBefore(tx, old.id, runId, before)
  return runId
}

/** The position of the latest visit of a step on the main path. */
async function positionOf(tx: TransactionContext, old: RunRow, stepId: string): Promise<number> {
  const [visit] = await tx.db
    .select({ seq: stepRecords.seq })
    .from(stepRecords)
    .where(
      and(
        eq(stepRecords.tenantId, tx.tenantId),
        eq(stepRecords.runId, old.id),
        eq(stepRecords.branch, MAIN_BRANCH),
        eq(stepRecords.stepId, stepId),
      ),
    )
    .orderBy(desc(stepRecords.seq))
    .limit(1)
  if (visit) return visit.seq
  const message = `The run did not come to ${stepId}, or only in a branch`
  throw new AppError('INVALID_INPUT', { details: [{ path: 'fromStepId', message }] })
}
