import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { runs, stepRecords, walks } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { MAX_PLACE, originOf } from '../../definition/branches'
import { AppError } from '../../errors'
import { isId } from '../../ids'
import { parseInput } from '../../parse'
import { runIs } from '../../run-store/conditions'
import { pinnedDefinition } from '../../run-store/definition'
import { runMaskerOf } from '../../runs/run-masker'
import { firstSteps } from './forks'

export const BRANCH_PAGE = 100

export const ReadBranches = z.object({
  runId: z.string(),
  /** The visit that forked: `main/each#1`. */
  fork: z.string().max(MAX_PLACE),
  page: z.number().int().min(0).max(1_000),
  /** Only failed branches, in order. */
  failed: z.boolean().optional(),
})
export type ReadBranches = z.input<typeof ReadBranches>

/** `queued` until its turn comes; `waiting` for an answer, an event or a time. */
export type BranchState = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'stopped'

/** One branch of a visit that forked. */
export interface BranchItem {
  /** Its position in the fork, from 0; an iteration's number. */
  position: number
  key: string
  state: BranchState
  startTime: string | null
  endTime: string | null
  /** Why it failed. */
  error: string | null
}

type Row = {
  position: number
  branch: string
  status: (typeof walks.$inferSelect)['status']
  done: boolean | null
  failed: boolean | null
  error: string | null
  start: string | null
  end: string | null
}

/**
 * A page of a visit's branches, in order. Uses an index, however many exist: pages are found by position, which has no
 * gaps. Omits branches that were stopped before their turn.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT
 */
export async function readBranches(ctx: ServiceContext, input: unknown): Promise<BranchItem[]> {
  authorize(ctx, 'run:read')
  const { runId, fork, page, failed = false } = parseInput(ReadBranches, input)
  if (!isId(runId)) throw new AppError('RUN_NOT_FOUND')
  const [run] = await ctx.db
    .select({ workflowId: runs.workflowId, version: runs.workflowVersion })
    .from(runs)
    .where(runIs(ctx, runId))
  if (!run) throw new AppError('RUN_NOT_FOUND')
  const [definition, masker] = await Promise.all([
    pinnedDefinition(ctx, run.workflowId, run.version),
    runMaskerOf(ctx, runId),
  ])
  const step = definition.steps.find(({ id }) => id === originOf(`${fork}/0`)?.stepId)
  if (!step) return []
  const { named, other } = firstSteps(definition, step)
  const from = page * BRANCH_PAGE
  const part = failed
    ? sql`and w.arrival ? 'failed' order by w.position limit ${BRANCH_PAGE} offset ${from}`
    : sql`and w.position >= ${from} and w.position < ${from + BRANCH_PAGE} order by w.position`
  const rows = await ctx.db.execute<Row>(sql`
    select w.position, w.branch, w.status, 
      w.arrival ? 'done' or w.arrival->'ends'->>'status' = 'completed' done,
      w.arrival ? 'failed' or w.arrival->'ends'->>'status' = 'failed' failed,
      coalesce(w.arrival->'failed', w.arrival->'ends'->'error')->>'message' error, to_json(f.start_time)#>>'{}' "start",
      case when w.status = 'ended' then to_json(w.updated_at)#>>'{}' end "end"
    from (
      select * from ${walks} w where w.tenant_id = ${ctx.tenantId} and w.run_id = ${runId} and w.scope = ${fork} ${part}) w
    left join ${stepRecords} f on f.tenant_id = w.tenant_id and f.run_id = w.run_id and f.branch = w.branch and f.visit = 1
      and f.step_id = coalesce(
        ${JSON.stringify(named)}::jsonb ->> substr(w.branch, ${fork.length + 2}::int), ${other}::text)
    order by w.position`)
  return rows.map((row) => ({
    position: row.position,
    key: originOf(row.branch)?.key ?? '',
    state: stateOf(row),
    startTime: row.start,
    endTime: row.end,
    error: row.error === null ? null : masker.text(row.error),
  }))
}

function stateOf({ status, done, failed }: Row): BranchState {
  if (failed) return 'failed'
  if (done) return 'completed'
  if (status === 'ended') return 'stopped'
  if (status === 'queued') return 'queued'
  return status === 'resting' ? 'waiting' : 'running'
}
