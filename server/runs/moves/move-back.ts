import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { runMoves } from '@/db/schema/moves'
import { runs } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { AppError } from '../../errors'
import { newId } from '../../ids'
import { parseInput } from '../../parse'
import { findRow } from '../../versioned/rows'
import { WORKFLOW } from '../../workflows/noun'
import { type Destination, destinationOf } from './destination'
import { type MovesMade, moveRun, refuseBesideOlder } from './move'
import { ADVICE, type MoveReason } from './reasons'
import { BATCH } from './schema'

/** Runs per call: few enough for one request, and for the screen to show progress. */
const AT_ONCE = 25

const MoveBack = z.object({
  workflowId: z.string().min(1).max(100),
  batch: z.string().regex(BATCH),
  /** Of an earlier call: the moves back belong together. */
  back: z.string().regex(BATCH).optional(),
  /** Runs that an earlier call could not move back. */
  skip: z.array(z.string().max(100)).max(1_000).default([]),
})
export type MoveBack = z.input<typeof MoveBack>

/**
 * Moves the runs of a batch back to the versions that they had, if they have begun no step since: with the same
 * verdicts, and each task is asked as before. Votes that were dropped do not come back. Call it until `left` is false.
 * @throws AppError as `moveRuns`
 */
export async function moveBack(ctx: ServiceContext, input: unknown): Promise<MovesMade & { left: boolean }> {
  authorize(ctx, 'run:move')
  const { workflowId, batch, back = newId('mov'), skip } = parseInput(MoveBack, input)
  refuseBesideOlder()
  await findRow(ctx, WORKFLOW, workflowId)
  const found = await findStill(ctx, { workflowId, batch, skip })
  const made: MovesMade = { batch: back, moved: [], refused: [] }
  const known = new Map<number, Destination | null>()
  for (const { runId, fromVersion } of found.slice(0, AT_ONCE)) {
    const to = known.get(fromVersion) ?? (await publishedVersion(ctx, workflowId, fromVersion))
    known.set(fromVersion, to)
    if (to === null) {
      made.refused.push({
        runId,
        code: 'MOVE_REFUSED',
        verdict: 'not_possible',
        reasons: [NEVER_PUBLISHED],
        changes: [],
      })
      continue
    }
    const outcome = await moveRun(ctx, runId, to, { asksAgain: true, dropVotes: false, reason: null, batch: back })
    if ('code' in outcome) made.refused.push(outcome)
    else made.moved.push(outcome)
  }
  return { ...made, left: found.length > AT_ONCE }
}

const NEVER_PUBLISHED: MoveReason = {
  code: 'STEP_GONE',
  message: 'The version that it had was never published: it was a test of a draft.',
  advice: ADVICE.ENDING,
}

/** Null for one that was never published, which has test runs only. */
function publishedVersion(ctx: ServiceContext, workflowId: string, version: number): Promise<Destination | null> {
  return destinationOf(ctx, workflowId, version).catch((err: unknown) => {
    if (err instanceof AppError && err.code === 'INVALID_INPUT') return null
    throw err
  })
}

/** The open runs whose last move belongs to the batch, and that have begun no step since. */
function findStill(
  { db, tenantId }: ServiceContext,
  { workflowId, batch, skip }: { workflowId: string; batch: string; skip: string[] },
) {
  return db
    .select({ runId: runMoves.runId, fromVersion: runMoves.fromVersion })
    .from(runMoves)
    .innerJoin(runs, and(eq(runs.tenantId, runMoves.tenantId), eq(runs.id, runMoves.runId)))
    .where(
      and(
        ...[eq(runMoves.tenantId, tenantId), eq(runMoves.batch, batch), eq(runMoves.workflowId, workflowId)],
        isNull(runs.endTime),
        sql`not exists (select from run_moves later where later.tenant_id = ${runMoves.tenantId}
          and later.run_id = ${runMoves.runId} and later.n > ${runMoves.n})`,
        sql`not exists (select from step_records s where s.tenant_id = ${runMoves.tenantId}
          and s.run_id = ${runMoves.runId} and s.seq > ${runMoves.afterSeq})`,
        skip.length > 0 ? sql`${runMoves.runId} <> all(${sql.param(skip)})` : undefined,
      ),
    )
    .orderBy(asc(runMoves.runId))
    .limit(AT_ONCE + 1)
}
