import { runs } from '@/db/schema/runs'
import { record } from '../../audit/record'
import { authorize } from '../../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../../context'
import { AppError } from '../../errors'
import { newId } from '../../ids'
import { moveToVersion, type OpenRun } from '../../interpreter/index'
import { olderLives } from '../../outbox'
import { parseInput } from '../../parse'
import { isRun } from '../../run-store/conditions'
import { hold, holdRun } from '../../run-store/held'
import { tenantMasker } from '../../vault/masker'
import { releaseAsked } from '../remind'
import { type Destination, destinationOf } from './destination'
import { judge } from './judge'
import { MoveRuns } from './schema'
import { questionChanges, timeoutIn, type Verdict } from './verdict'

export interface Moved {
  runId: string
  verdict: 'safe' | 'asks_again'
}

/** Why a run was not moved: for these reasons, or because it may only be moved with `asksAgain`. */
export type Refused = { runId: string } & (
  | ({ code: 'MOVE_REFUSED' } & Verdict)
  | { code: 'RUN_NOT_FOUND' | 'RUN_ALREADY_ENDED'; reasons: [] }
)

export interface MovesMade {
  batch: string
  moved: Moved[]
  refused: Refused[]
}

/**
 * Moves open runs to another published version of their workflow, each in its own transaction, so that a call that was
 * interrupted can be repeated. A run that has the version already counts as moved.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, INVALID_INPUT; UNAVAILABLE while a process of an older release
 * runs, which would not know of moves
 */
export async function moveRuns(ctx: ServiceContext, input: unknown): Promise<MovesMade> {
  authorize(ctx, 'run:move')
  const { workflowId, toVersion, runIds, reason, batch = newId('mov'), ...how } = parseInput(MoveRuns, input)
  refuseBesideOlder()
  const to = await destinationOf(ctx, workflowId, toVersion)
  const made: MovesMade = { batch, moved: [], refused: [] }
  for (const runId of new Set(runIds)) {
    const outcome = await moveRun(ctx, runId, to, { ...how, reason: reason ?? null, batch })
    if ('code' in outcome) made.refused.push(outcome)
    else made.moved.push(outcome)
  }
  return made
}

/** @throws AppError UNAVAILABLE */
export function refuseBesideOlder(): void {
  if (!olderLives()) return
  const message = 'A process of an older release is still running. Runs can be moved once all are new.'
  throw new AppError('UNAVAILABLE', { details: [{ message }] })
}

/** The caller's conditions. */
interface How {
  asksAgain: boolean
  dropVotes: boolean
  reason: string | null
  batch: string
}

/**
 * Locks the run that waits for a run, if any does, and before that one, as all do who lock both. Otherwise the two could
 * be moved at the same moment, each to a version that fits only the other's old one.
 */
async function holdParent(tx: TransactionContext, runId: string): Promise<void> {
  const [run] = await tx.db
    .select({ parentRunId: runs.parentRunId })
    .from(runs)
    .where(isRun({ tenantId: tx.tenantId, id: runId }))
  if (run?.parentRunId) await hold(tx, { tenantId: tx.tenantId, runId: run.parentRunId })
}

/** Moves a run. It is judged under its lock, from what is read after it. */
export function moveRun(ctx: ServiceContext, runId: string, to: Destination, how: How): Promise<Moved | Refused> {
  return withTransaction(ctx, async (tx) => {
    await holdParent(tx, runId)
    const found = await holdRun(tx, runId).catch((err: unknown) => {
      if (err instanceof AppError && err.code === 'RUN_NOT_FOUND') return null
      throw err
    })
    if (found?.run.workflowId !== to.workflowId) return { runId, code: 'RUN_NOT_FOUND', reasons: [] }
    const { held, run } = found
    if (run.endTime) return { runId, code: 'RUN_ALREADY_ENDED', reasons: [] }
    if (run.workflowVersion === to.version) return { runId, verdict: 'safe' }
    const { open, verdict: judged } = await judge(tx, run, to, how)
    const { verdict } = judged
    if (verdict !== 'safe' && !(verdict === 'asks_again' && how.asksAgain))
      return { runId, code: 'MOVE_REFUSED', ...judged }
    const reason = how.reason ? (await tenantMasker(tx)).text(how.reason) : null
    await moveToVersion(
      held,
      open,
      {
        ...{ version: to.version, definition: to.definition, timeoutAt: timeoutIn(to.definition, run) },
        asksAgain: (walk) => questionChanges(walk).length > 0,
        release: (id) => releaseAsked(held, { tenantId: run.tenantId, runId: run.id, id }),
      },
      { batch: how.batch, reason },
    )
    await record(
      tx,
      'run.moved',
      { id: run.id, name: run.workflowName },
      details(run.workflowVersion, to, { open, judged }, { ...how, reason }),
    )
    return { runId, verdict }
  })
}

function details(
  from: number,
  to: Destination,
  { open, judged }: { open: OpenRun; judged: Verdict },
  { batch, reason }: Pick<How, 'batch' | 'reason'>,
) {
  const again = [...new Set(judged.changes.map(({ stepId }) => stepId))]
  const votes = open.walks.map((walk) => (walk.is === 'asking' && questionChanges(walk).length > 0 ? walk.votes : 0))
  const droppedVotes = votes.reduce((sum, n) => sum + n, 0)
  return {
    version: { from, to: to.version },
    batch,
    ...(again.length > 0 ? { askedAgain: again } : {}),
    ...(droppedVotes > 0 ? { droppedVotes } : {}),
    ...(reason === null ? {} : { reason }),
  }
}
