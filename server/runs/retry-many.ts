import { and, eq, inArray } from 'drizzle-orm'
import { z } from 'zod'
import { runs } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import { runsInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { component } from '../definition/component'
import { AppError, type ErrorCode, type ErrorDetail } from '../errors'
import { parseInput } from '../parse'
import { findRow } from '../versioned/rows'
import { WORKFLOW } from '../workflows/noun'
import { retryRun } from './retry'
import { AgainVersion, RepeatCalls } from './version-again'

const AT_ONCE = 100

export const RetryRuns = component('RetryRuns', {
  workflowId: z.string().min(1).max(100).describe('The workflow of all the runs.'),
  runIds: z.array(z.string().max(100)).min(1).max(AT_ONCE).describe('The failed runs to retry, at most 100.'),
  version: AgainVersion.optional(),
  repeatCalls: RepeatCalls.optional(),
})

/** A run that a call for many left as it was. */
export interface RefusedRun {
  runId: string
  code: ErrorCode
  message: string
  details?: ErrorDetail[]
}

/**
 * Retries many failed runs of a workflow, one after the other, each in its own transaction. Those that were retried
 * before, that a step started, or that do not fit the version, are named and left as they are, so the call may be repeated.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, INVALID_INPUT
 */
export async function retryRuns(ctx: ServiceContext, body: unknown) {
  authorize(ctx, 'run:retry')
  const { workflowId, runIds, ...how } = parseInput(RetryRuns, body)
  const workflow = await findRow(ctx, WORKFLOW, workflowId)
  if (workflow.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
  const found = await ctx.db
    .select({ id: runs.id, parentRunId: runs.parentRunId })
    .from(runs)
    .where(
      and(eq(runs.tenantId, ctx.tenantId), eq(runs.workflowId, workflowId), inArray(runs.id, runIds), runsInReach(ctx)),
    )
  const parentOf = new Map(found.map((run) => [run.id, run.parentRunId]))
  const retried: { runId: string; retryOf: string }[] = []
  const refused: RefusedRun[] = []
  for (const runId of new Set(runIds)) {
    const why = await refusedAs(runId, async () => {
      const parent = parentOf.get(runId)
      if (parent === undefined) throw new AppError('RUN_NOT_FOUND')
      // The retried parent starts a run of its own.
      if (parent !== null) throw new AppError('CONFLICT', { message: 'A step of another run started it: retry that' })
      const { runId: next } = await retryRun(ctx, { runId, body: how }, { useful: true })
      retried.push({ runId: next, retryOf: runId })
    })
    if (why) refused.push(why)
  }
  return { retried, refused }
}

/** Why a run of many was refused; null if it was not. */
export async function refusedAs(runId: string, work: () => Promise<unknown>): Promise<RefusedRun | null> {
  try {
    await work()
    return null
  } catch (err) {
    if (!(err instanceof AppError) || err.status >= 500) throw err
    const { code, message, details } = err
    return { runId, code, message, ...(details.length > 0 ? { details } : {}) }
  }
}
