import { and, asc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { runs } from '@/db/schema/runs'
import { forEachAtOnce } from '@/lib/for-each-at-once'
import { authorize, refuseLimited } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { isId } from '../../ids'
import { parseInput } from '../../parse'
import { readCursor, writeCursor } from '../../query/cursor'
import { isRun } from '../../run-store/conditions'
import { maskWords } from '../mask-words'
import { callerMaskersOf } from '../run-masker'
import { destinationOf } from './destination'
import { judge } from './judge'
import type { Verdict } from './verdict'

const PAGE = 100
/** Concurrent reads of runs. */
const AT_ONCE = 4
/** A page ends with the runs that were judged by then: some have hundreds of branches. */
const LONGEST_MS = 1_000

export const OpenRunsQuery = z.object({
  to: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe('The published version to which they would be moved: by default, the one that is published now.'),
  after: z.string().max(400).optional().describe('The `next` of the page before; the first page without it.'),
})

const Position = z.tuple([z.iso.datetime().startsWith('2'), z.string().refine(isId)])
const NOT_OF_THIS_LIST = { path: 'after', message: 'must be the next of an earlier page' }

/** An open run, and whether it can continue on another version. */
export interface MovableRun extends Verdict {
  runId: string
  businessKey: string | null
  workflowVersion: number
  status: 'running' | 'paused'
  stepId: string | null
  startTime: Date
  /** When it last came further. */
  updatedAt: Date
}

/**
 * The open runs of a workflow on other versions than the given one, oldest first, each with whether it can be moved
 * there, at the moment of the read. A page has at least one run, if any is left.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, INVALID_INPUT
 */
export async function listMovable(
  ctx: ServiceContext,
  { id, query }: { id: string; query: unknown },
  longestMs = LONGEST_MS,
): Promise<{ toVersion: number; runs: MovableRun[]; next: string | null }> {
  authorize(ctx, 'run:read')
  refuseLimited(ctx)
  const { to: wanted, after } = parseInput(OpenRunsQuery, query)
  const to = await destinationOf(ctx, id, wanted ?? 'published')
  const page = await findOpen(ctx, {
    workflowId: id,
    version: to.version,
    after: after === undefined ? null : readCursor(Position, after, NOT_OF_THIS_LIST),
  })
  const found = page.slice(0, PAGE)
  const maskerOf = await callerMaskersOf(
    ctx,
    found.map(({ id: runId }) => ({ runId })),
  )
  const judged = new Map<string, MovableRun>()
  const until = performance.now() + longestMs
  let done = 0
  await forEachAtOnce([...found.entries()], AT_ONCE, async ([at, { id: runId }]) => {
    if (at > 0 && performance.now() >= until) return
    done = Math.max(done, at + 1)
    // It may have ended, or have been moved, meanwhile.
    const [run] = await ctx.db
      .select()
      .from(runs)
      .where(isRun({ tenantId: ctx.tenantId, id: runId }))
    if (!run || run.endTime || run.workflowVersion === to.version) return
    const { verdict } = await judge(ctx, run, to)
    const { businessKey } = maskWords({ businessKey: run.businessKey }, maskerOf({ runId }))
    judged.set(runId, {
      runId,
      ...{ businessKey, workflowVersion: run.workflowVersion, stepId: run.currentStepId },
      ...{ status: run.status === 'paused' ? 'paused' : 'running', startTime: run.startTime, updatedAt: run.updatedAt },
      ...verdict,
    })
  })
  const last = done < page.length ? found[done - 1] : undefined
  return {
    toVersion: to.version,
    runs: found.flatMap(({ id: runId }) => judged.get(runId) ?? []),
    next: last ? writeCursor([last.startTime, last.id]) : null,
  }
}

/** Uses the index of open runs, however many have ended. */
function findOpen(
  { db, tenantId }: ServiceContext,
  { workflowId, version, after }: { workflowId: string; version: number; after: z.output<typeof Position> | null },
) {
  return db
    .select({ id: runs.id, startTime: runs.startTime })
    .from(runs)
    .where(
      and(
        eq(runs.tenantId, tenantId),
        sql`${runs.status} in ('running', 'paused')`,
        isNull(runs.outcome),
        eq(runs.workflowId, workflowId),
        sql`${runs.workflowVersion} <> ${version}`,
        after ? isAfter(after) : undefined,
      ),
    )
    .orderBy(asc(runs.startTime), asc(runs.id))
    .limit(PAGE + 1)
}

function isAfter([time, id]: z.output<typeof Position>) {
  const startTime = new Date(time)
  return or(gt(runs.startTime, startTime), and(eq(runs.startTime, startTime), gt(runs.id, id)))
}
