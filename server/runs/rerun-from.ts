import { and, desc, eq, lte, sql } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import type { TransactionContext } from '../context'
import type { JsonObject } from '../definition/json'
import { AppError } from '../errors'
import { requireFiles } from '../files/named'
import { checkEdits, refuseTooMuchData } from './edits'
import type { RunRow } from './present'
import { continueRun, dataBefore, failedAt, ofMainPath } from './progress'
import { refuseRepeatedCalls, refuseSkippedQuestion } from './skips'
import { requireFit, type VersionAgain } from './version-again'

/**
 * Starts a run that continues at a step that an earlier run reached, with the outputs and data from before its latest
 * visit, and with some fields of the run data changed. Changes need the role editor, because they may bypass checks of
 * earlier steps, such as an approval.
 * @throws AppError INVALID_INPUT if the run never reached the step on its main path, or if the edits are refused;
 * FORBIDDEN, WORKFLOW_ARCHIVED, VERSION_MISFIT
 */
export async function rerunFrom(
  tx: TransactionContext,
  old: RunRow,
  on: VersionAgain,
  { fromStepId, edits, repeatCalls }: { fromStepId: string; edits: JsonObject; repeatCalls: boolean },
): Promise<string> {
  const { definition, version: workflowVersion } = on
  const edited = Object.keys(edits).length > 0
  if (edited) {
    authorize(tx, 'workflow:write')
    checkEdits(definition.payload, edits)
  }
  const before = sql`${await positionOf(tx, old, fromStepId)}`
  const kept = await dataBefore(tx, old, before)
  if (edited) await requireFiles(tx, definition.payload, edits, { at: 'data.', kept: kept.data })
  const data = { ...kept.data, ...edits }
  if (edited) refuseTooMuchData(data)
  if (on.isOther) {
    await requireFit(tx, old, on, fromStepId, { data, before })
    await refuseSkippedQuestion(tx, old.id, on, { stepId: fromStepId, before })
    if (!repeatCalls) await refuseRepeatedCalls(tx, old.id, on, { stepId: fromStepId, was: fromStepId, before })
  }
  return continueRun(tx, old, before, {
    workflowVersion,
    definition,
    data,
    sources: Object.fromEntries(Object.entries(kept.sources).filter(([name]) => !Object.hasOwn(edits, name))),
    edits: { ...kept.edits, ...edits },
    firstStep: fromStepId,
    // One user's verified facts must never accompany data that another user sends.
    context: edited ? tx.trusted : (tx.trusted ?? old.context),
  })
}

/**
 * The position of the latest visit of a step on the main path, up to where that failed if it did.
 * @throws AppError INVALID_INPUT if no such visit exists
 */
export async function positionOf(tx: TransactionContext, old: RunRow, stepId: string): Promise<number> {
  const seq = await findPosition(tx, old, stepId)
  if (seq !== null) return seq
  const message = `The run did not reach ${stepId}, or reached it only in a branch or after it failed`
  throw new AppError('INVALID_INPUT', { details: [{ path: 'fromStepId', message }] })
}

/** The same; null without such a visit. */
export async function findPosition(tx: TransactionContext, old: RunRow, stepId: string): Promise<number | null> {
  const [visit] = await tx.db
    .select({ seq: stepRecords.seq })
    .from(stepRecords)
    .where(
      and(
        ofMainPath(tx, old.id),
        eq(stepRecords.stepId, stepId),
        // Later records belong to the failure path. A run that began there would not know that it fails.
        lte(stepRecords.seq, failedAt(tx, old.id)),
      ),
    )
    .orderBy(desc(stepRecords.seq))
    .limit(1)
  return visit?.seq ?? null
}
