import { and, eq } from 'drizzle-orm'
import { runs, walks } from '@/db/schema/runs'
import { type ServiceContext, withTransaction } from '../../context'
import { originOf, scopeIdOf } from '../../definition/branches'
import type { Arrival, Receipt, RunError } from '../../definition/run'
import { ImpossibleState } from '../../errors'
import { definitionOf } from '../../run-store/definition'
import { type Held, hold } from '../../run-store/held'
import type { WalkClaim, WalkRef } from '../../run-store/names'
import type { Written } from '../../run-store/run-data'
import { ownsOf, RUN_COLUMNS, type RunRow, walkData } from '../../run-store/walk-data'
import { stateOf } from '../flow/scope'
import { STOPPED } from '../flow/stopping'
import type { Ending } from '../flow/types'
import { isMine } from '../plan/state'
import { carryOutCancel } from '../stop/cancel'
import { endOpenWork, stopBranches } from '../stop/open-work'
import { closeFork, countBranch, countNext } from '../write/branches'
import { closeRun } from '../write/close'
import { moveWalk } from '../write/held'
import { NEXT_SEGMENT, requestWalk, signalEngineWaits } from '../write/request'

/**
 * Ends a branch, and counts it at its fork. The branch that completes the fork stops the branches that still run and
 * continues the walk that forked; any other branch starts the next queued one.
 */
export async function joinBranch(ctx: ServiceContext, ref: WalkClaim): Promise<Receipt> {
  return withTransaction<Receipt>(ctx, async (transaction) => {
    const tx = await hold(transaction, ref)
    const [found] = await tx.db
      .select({ run: RUN_COLUMNS, walk: walks })
      .from(runs)
      .innerJoin(walks, and(eq(walks.tenantId, runs.tenantId), eq(walks.runId, runs.id), eq(walks.branch, ref.branch)))
      .where(and(eq(runs.tenantId, ref.tenantId), eq(runs.id, ref.runId)))
    if (!found || found.run.endTime) return { stop: 'ended' }
    const { run, walk } = found
    if (!isMine(walk, ref)) return { stop: 'superseded' }
    const { arrival } = walk
    if (arrival === null) throw new ImpossibleState('arrival-of-nothing', `${ref.branch} of ${ref.runId} has not ended`)
    if (run.cancelRequestedAt) {
      const definition = await definitionOf(tx, run)
      await carryOutCancel(tx, { run, definition, written: null }, { ref, next: null })
      return STOPPED.receipt
    }
    await moveWalk(tx, ref, { status: 'ended' })
    if ('ends' in arrival) {
      const written = await dataAtEnd(tx, run, ref)
      const ending: Ending =
        arrival.ends.status === 'completed'
          ? { ...arrival.ends, outcome: 'succeeded', written }
          : { ...arrival.ends, outcome: 'failed', written, stepId: arrival.ends.error.stepId }
      const why = stopped('another branch ended the run')
      if (arrival.ends.status === 'failed' && (await failsByPath(tx, run))) {
        await failFork(tx, run, ref, arrival.ends.error, why)
        return { stop: 'arrived' }
      }
      const waited = await endOpenWork(tx, run, why)
      await signalEngineWaits(tx, run, waited)
      await closeRun(tx, run, ending)
      return { stop: 'ended' }
    }
    await count(tx, run, ref, arrival)
    return { stop: 'arrived' }
  })
}

/** The data at the end of a run that a branch ends. */
async function dataAtEnd(tx: Held, run: RunRow, ref: WalkRef): Promise<Written> {
  const [found] = await tx.db
    .select({ small: runs.smallData, owns: ownsOf(ref) })
    .from(runs)
    .where(and(eq(runs.tenantId, ref.tenantId), eq(runs.id, ref.runId)))
  return walkData(tx, ref, { run, small: found?.small ?? {}, owns: found?.owns ?? null })
}

async function count(
  tx: Held,
  run: RunRow,
  ref: WalkClaim,
  arrival: Exclude<Arrival, { ends: object }>,
): Promise<void> {
  const origin = originOf(ref.branch)
  if (!origin) throw new ImpossibleState('arrival-of-no-branch', `${ref.branch} of ${ref.runId} has no fork`)
  const id = scopeIdOf(origin.parent, origin)
  const scope = await countBranch(tx, ref, id, arrival)
  if (scope.state !== 'open') return
  const state = stateOf(scope)
  if (state === 'open') {
    if (scope.next >= scope.total) return
    await countNext(tx, ref, id)
    await requestWalk(tx, ref, and(eq(walks.scope, id), eq(walks.position, scope.next), eq(walks.status, 'queued')))
    return
  }
  await closeFork(tx, ref, id, { state })
  const why =
    state === 'done' ? `${origin.stepId} needed no more branches` : `another branch of ${origin.stepId} failed`
  const waited = await stopBranches(tx, run, id, stopped(why))
  await signalEngineWaits(tx, run, waited)
  await requestWalk(tx, ref, and(eq(walks.branch, origin.parent), eq(walks.status, 'waiting')), NEXT_SEGMENT)
}

async function failsByPath(tx: Held, run: RunRow): Promise<boolean> {
  const { onFailure } = await definitionOf(tx, run)
  return onFailure !== undefined
}

/** Ends all branches and has the run's main walk continued, which fails with this error. */
async function failFork(tx: Held, run: RunRow, ref: WalkRef, error: RunError, why: Reason): Promise<void> {
  let origin = originOf(ref.branch)
  for (let next = origin; next; next = originOf(next.parent)) origin = next
  if (!origin) throw new ImpossibleState('arrival-of-no-branch', `${ref.branch} of ${ref.runId} has no fork`)
  const id = scopeIdOf(origin.parent, origin)
  await closeFork(tx, ref, id, { state: 'failed', cause: { failed: error, outcome: 'failed', final: true } })
  await signalEngineWaits(tx, run, await stopBranches(tx, run, id, why))
  await requestWalk(tx, ref, and(eq(walks.branch, origin.parent), eq(walks.status, 'waiting')), NEXT_SEGMENT)
}

type Reason = { code: string; message: string }

function stopped(why: string): Reason {
  return { code: 'STOPPED', message: `Stopped: ${why}.` }
}
