import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { CALL_PAGE, readCalls } from '../agents/journal/shown'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { MAX_PLACE } from '../definition/branches'
import { StepRef } from '../definition/step-ref'
import { largeRead } from '../large-reads'
import { parseInput } from '../parse'
import { STORABLE } from '../query/storable-text'
import { DEFAULT_PAGE, wholeNumber } from '../query/values'
import { requireRun } from '../run-store/find-run'
import { CLEANUP_BRANCH, MAIN_BRANCH } from '../run-store/names'

const MAX_VISIT = 999_999_999

/** The query string. */
export const ReadCalls = z.object({
  stepId: StepRef.refine(...STORABLE)
    .optional()
    .describe('Only those of this step.'),
  visit: wholeNumber(1, MAX_VISIT).optional().describe('Only those of this visit of the step.'),
  branch: z
    .string()
    .max(MAX_PLACE)
    .refine(...STORABLE)
    .optional()
    .describe('Only those in this branch, as the history names it.'),
  ...CALL_PAGE,
})

/**
 * A page of the calls that the agents of a run made, in the order in which they were recorded.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT, UNAVAILABLE
 */
export async function listCalls(ctx: ServiceContext, runId: string, query: unknown) {
  authorize(ctx, 'run:read')
  const { after = 0, limit = DEFAULT_PAGE, stepId, visit, branch } = parseInput(ReadCalls, query)
  await requireRun(ctx, runId)
  const roots = [MAIN_BRANCH, CLEANUP_BRANCH].map((root) => `${root}/${branch}`)
  const where = [
    sql`t.run_id = ${runId}`,
    ...(stepId === undefined ? [] : [sql`p.step_id = ${stepId}`]),
    ...(visit === undefined ? [] : [sql`p.visit = ${visit}`]),
    ...(branch === undefined ? [] : [sql`p.branch = any(${sql.param(roots)}::text[])`]),
  ]
  const { calls, next } = await largeRead(ctx, (reading) =>
    readCalls(reading, sql.join(where, sql` and `), { after, limit }),
  )
  return { runId, calls, next: next === null ? null : String(next) }
}
