import { and, eq } from 'drizzle-orm'
import { runs, stepRecords, walks } from '@/db/schema/runs'
import type { TransactionContext } from '../context'
import type { JsonObject } from '../definition/json'
import type { Receipt } from '../definition/run'
import type { Definition } from '../definition/schema'
import type { StepConfig } from '../definition/step-config'
import { ImpossibleState } from '../errors'
import { tellLocally } from './changes'
import { pinnedDefinition } from './pinned-definition'
import type { Visit, WalkRef } from './receipt'

export type RunRow = typeof runs.$inferSelect
export type StepRecordRow = typeof stepRecords.$inferSelect

/** Where a walk stands, with its run locked until the transaction ends. `data` is the working copy. */
export interface Place {
  run: RunRow
  ref: WalkRef
  definition: Definition
  data: JsonObject
  /** Outputs of this transaction, by step: what follows may refer to them before they are written. */
  outputs: Record<string, JsonObject>
}

/**
 * Takes the lock of a run and reads something of it. Two statements, sent together: a single one that has to wait
 * for the lock sees the locked row as it is after the wait, but every other row as it was before.
 * @param read a query that has not been sent yet
 */
export async function readLocked<T>(
  tx: TransactionContext,
  { tenantId, runId }: { tenantId: string; runId: string },
  read: PromiseLike<T>,
): Promise<T> {
  const lock = tx.db
    .select({ id: runs.id })
    .from(runs)
    .where(and(eq(runs.tenantId, tenantId), eq(runs.id, runId)))
    .for('update')
  const [, result] = await Promise.all([lock, read])
  return result
}

/**
 * Locks the run of a walk and reads the record of a visit.
 * A walk whose run has ended, or that another one has replaced, is told to stop.
 */
export async function lockPlace(
  tx: TransactionContext,
  ref: WalkRef,
  at: Visit,
): Promise<{ stop: Receipt } | { place: Place; record: StepRecordRow | null }> {
  const read = tx.db
    .select({
      run: runs,
      walk: { epoch: walks.epoch, segment: walks.segment, status: walks.status },
      record: stepRecords,
    })
    .from(runs)
    .innerJoin(walks, and(eq(walks.tenantId, runs.tenantId), eq(walks.runId, runs.id), eq(walks.branch, ref.branch)))
    .leftJoin(
      stepRecords,
      and(
        eq(stepRecords.tenantId, runs.tenantId),
        eq(stepRecords.runId, runs.id),
        eq(stepRecords.branch, ref.branch),
        eq(stepRecords.stepId, at.stepId),
        eq(stepRecords.visit, at.visit),
      ),
    )
    .where(and(eq(runs.tenantId, ref.tenantId), eq(runs.id, ref.runId)))
  const [found] = await readLocked(tx, ref, read)
  if (!found || found.run.endTime) return { stop: { stop: 'ended' } }
  const { walk } = found
  if (walk.epoch !== ref.epoch || walk.segment !== ref.segment || walk.status !== 'walking')
    return { stop: { stop: 'superseded' } }
  tx.afterCommit(() => tellLocally(ref.runId))
  const definition = await pinnedDefinition(tx, found.run.workflowId, found.run.workflowVersion)
  return {
    place: { run: found.run, ref, definition, data: found.run.data, outputs: {} },
    record: found.record,
  }
}

/** The configuration that a visit was claimed with. */
export function configOf(record: StepRecordRow): StepConfig {
  if (record.config === null)
    throw new ImpossibleState('record-without-config', `${record.stepId} has no configuration`)
  return record.config
}

/** Names the record of a visit. */
export function recordIs({ place: { ref }, at }: { place: Pick<Place, 'ref'>; at: Visit }) {
  return and(
    eq(stepRecords.tenantId, ref.tenantId),
    eq(stepRecords.runId, ref.runId),
    eq(stepRecords.branch, ref.branch),
    eq(stepRecords.stepId, at.stepId),
    eq(stepRecords.visit, at.visit),
  )
}
