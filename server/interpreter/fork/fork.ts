import { scopes } from '@/db/schema/runs'
import { type ServiceContext, withTransaction } from '../../context'
import { branchOf, scopeIdOf } from '../../definition/branches'
import { graphOf } from '../../definition/graph'
import type { Receipt } from '../../definition/run'
import { ImpossibleState } from '../../errors'
import { emit } from '../../outbox'
import { walkIs } from '../../run-store/conditions'
import type { Held } from '../../run-store/held'
import type { Visit, WalkClaim } from '../../run-store/names'
import type { StepRecordRow } from '../../run-store/walk-data'
import { findStepType } from '../../steps/registry'
import { fork } from '../flow/step'
import { isCancelling } from '../flow/stopping'
import type { WalkState } from '../flow/types'
import { announceRun } from '../notice/announce'
import { configOf, holdWalk, receiptOf } from '../plan/state'
import { stopAtOpen } from '../stop/cancel'
import { forkIs, insertFork } from '../write/branches'
import { moveWalk } from '../write/held'
import { NEXT_SEGMENT, requestWalk } from '../write/request'

/**
 * Runs the branches of a visit, each as a walk of its own. The forking walk waits, without an engine run, until enough
 * of them have ended.
 */
export async function forkWalk(ctx: ServiceContext, ref: WalkClaim, at: Visit): Promise<Receipt> {
  return withTransaction<Receipt>(ctx, async (transaction) => {
    const { held: tx, found: locked } = await holdWalk(transaction, ref, at)
    if ('stop' in locked) return locked.stop
    const { state, record } = locked
    if (!record) throw new ImpossibleState('fork-without-record', `${ref.runId} has no record of ${at.stepId}`)
    if (record.endTime) return receiptOf(record)
    if (isCancelling(state)) return stopAtOpen(tx, state, at)
    await beginBranches(tx, state, record)
    const [scope] = await tx.db
      .select({ state: scopes.state })
      .from(scopes)
      .where(forkIs(ref, scopeIdOf(ref.branch, record)))
    if (scope?.state === 'open') {
      await moveWalk(tx, ref, { status: 'waiting' })
      return { stop: 'forked' }
    }
    // The branches completed the fork while this walk was being requested, so none of them will wake it.
    await requestWalk(tx, ref, walkIs(ref), NEXT_SEGMENT)
    return { stop: 'handed-over' }
  })
}

/** Writes the branches and requests as many as may run concurrently, unless an earlier call did. */
async function beginBranches(tx: Held, { ref, definition }: WalkState, record: StepRecordRow): Promise<void> {
  const type = findStepType(record.stepType)
  if (type?.mode !== 'fork') throw new ImpossibleState('fork-of-no-fork', `${record.stepType} runs no branches`)
  const { tenantId, runId } = ref
  const { branches, concurrency, need, stopOnError } = fork(type, configOf(record), ref)
  const id = scopeIdOf(ref.branch, record)
  const next = Math.min(concurrency, branches.length)
  const graph = graphOf(definition)
  const rows = branches.map(({ key, exit, data }, position) => ({
    branch: branchOf(id, key),
    status: position < next ? ('requested' as const) : ('queued' as const),
    step: graph.target(record.stepId, exit) ?? '',
    position,
    data,
  }))
  if (!(await insertFork(tx, ref, { id, next, need, stopOnError }, rows))) return
  for (const { branch } of rows.slice(0, next))
    await emit(tx, 'workflow/walk.requested', { tenantId, runId, branch, epoch: 1, segment: 1 })
  await announceRun(tx, runId)
}
