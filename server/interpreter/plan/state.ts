import { and, eq } from 'drizzle-orm'
import { runs, stepRecords, walks } from '@/db/schema/runs'
import type { ServiceContext, TransactionContext } from '../../context'
import type { Receipt } from '../../definition/run'
import type { StepConfig } from '../../definition/step-config'
import { ImpossibleState } from '../../errors'
import { definitionOf } from '../../run-store/definition'
import { type Held, holdAndRead } from '../../run-store/held'
import type { Visit, WalkClaim } from '../../run-store/names'
import { ownsOf, RUN_COLUMNS, type StepRecordRow, walkData } from '../../run-store/walk-data'
import type { WalkState } from '../flow/types'
import { notifyLocally } from '../notice/watch'

/** Whether the engine run that claimed a walk still drives it. */
export function isMine(
  walk: Pick<typeof walks.$inferSelect, 'status' | 'engineRunId' | 'epoch' | 'segment'>,
  ref: WalkClaim,
): boolean {
  const { status, engineRunId, epoch, segment } = walk
  return status === 'walking' && engineRunId === ref.engineRunId && epoch === ref.epoch && segment === ref.segment
}

type Found = { stop: Receipt } | { state: WalkState; record: StepRecordRow | null }

/**
 * Locks the run of a walk and reads the record of a visit. Stops the walk if its run has ended, or if another walk or
 * engine run has replaced it.
 */
export async function holdWalk(
  tx: TransactionContext,
  ref: WalkClaim,
  at: Visit,
): Promise<{ held: Held; found: Found }> {
  const [held, row] = await holdAndRead(tx, ref, readWalkState(tx, ref, at))
  const found = await walkStateOf(tx, ref, row)
  if ('state' in found) tx.afterCommit(() => notifyLocally(ref.runId))
  return { held, found }
}

/** The same without the lock: the result may be out of date, so `commitPlan` checks it again. */
export async function findWalkState(ctx: ServiceContext, ref: WalkClaim, at: Visit): Promise<Found> {
  return walkStateOf(ctx, ref, await readWalkState(ctx, ref, at))
}

function readWalkState(ctx: ServiceContext, ref: WalkClaim, at: Visit) {
  return ctx.db
    .select({
      run: RUN_COLUMNS,
      small: runs.smallData,
      walk: { epoch: walks.epoch, segment: walks.segment, status: walks.status, engineRunId: walks.engineRunId },
      record: stepRecords,
      owns: ownsOf(ref),
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
}

async function walkStateOf(
  ctx: ServiceContext,
  ref: WalkClaim,
  [found]: Awaited<ReturnType<typeof readWalkState>>,
): Promise<Found> {
  if (!found || found.run.endTime) return { stop: { stop: 'ended' } }
  const { walk, run, record } = found
  if (!isMine(walk, ref)) return { stop: { stop: 'superseded' } }
  const definition = await definitionOf(ctx, run)
  return { state: { run, ref, definition, ...(await walkData(ctx, ref, found)), outputs: {}, visits: null }, record }
}

/** The configuration frozen when the visit was claimed. */
export function configOf(record: Pick<StepRecordRow, 'stepId' | 'config'>): StepConfig {
  if (record.config === null)
    throw new ImpossibleState('record-without-config', `${record.stepId} has no configuration`)
  return record.config
}

/** The receipt that a recorded visit returned to its walk. */
export function receiptOf(record: StepRecordRow): Receipt {
  return record.receipt ?? { stop: 'ended' }
}
