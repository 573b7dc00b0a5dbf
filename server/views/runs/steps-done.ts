import { and, asc, desc, eq, gt, lt, ne, or, sql } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { attemptsBegun } from '../../run-store/attempts'
import { MAIN_BRANCH } from '../../run-store/names'
import { maskWords } from '../../runs/mask-words'
import { failedAt, ofMainPath } from '../../runs/progress'
import type { RetryPoint } from '../../runs/retry-point'
import type { Masker } from '../../vault/mask'

/** How many of the latest steps with several attempts to show. */
const REPEATED = 3
/** How many steps of a failure path to read. */
const ON_PATH = 20

/** Counts a run's completed visits. */
export async function countDone(ctx: ServiceContext, runId: string): Promise<number> {
  const [row] = await ctx.db
    .select({ count: sql<number>`count(*)::int` })
    .from(stepRecords)
    .where(
      and(eq(stepRecords.tenantId, ctx.tenantId), eq(stepRecords.runId, runId), eq(stepRecords.status, 'completed')),
    )
  return row?.count ?? 0
}

/** How many visits were before the failed step or in its branches, how many a retry keeps, and the failure path after it. */
export async function readAtFailure(ctx: ServiceContext, runId: string, retry: RetryPoint | null, masker: Masker) {
  const before = failedAt(ctx, runId)
  const onMain = ofMainPath(ctx, runId)
  const { status, handled, seq, stepName } = stepRecords
  const ofRun = and(eq(stepRecords.tenantId, ctx.tenantId), eq(stepRecords.runId, runId))
  const [[others], [kept], path] = await Promise.all([
    ctx.db
      .select({ count: sql<number>`count(*)::int` })
      .from(stepRecords)
      .where(and(ofRun, or(ne(stepRecords.branch, MAIN_BRANCH), lt(seq, before)))),
    ctx.db
      .select({ count: sql<number>`count(*)::int` })
      .from(stepRecords)
      .where(and(onMain, or(eq(status, 'completed'), eq(handled, true)), lt(seq, retry?.before ?? before))),
    ctx.db
      .select({ stepName, status })
      .from(stepRecords)
      .where(and(onMain, gt(seq, before)))
      .orderBy(asc(seq))
      .limit(ON_PATH),
  ])
  return { others: others?.count ?? 0, kept: kept?.count ?? 0, path: path.map((row) => maskWords(row, masker)) }
}

/** The latest steps that completed after failed attempts, oldest first. */
export async function readRepeated(ctx: ServiceContext, runId: string) {
  const rows = await ctx.db
    .select({
      stepId: stepRecords.stepId,
      stepName: stepRecords.stepName,
      attempts: attemptsBegun(stepRecords.attempt, stepRecords.attempts),
      endTime: stepRecords.endTime,
    })
    .from(stepRecords)
    .where(
      and(
        eq(stepRecords.tenantId, ctx.tenantId),
        eq(stepRecords.runId, runId),
        eq(stepRecords.status, 'completed'),
        gt(stepRecords.attempt, 1),
        gt(attemptsBegun(stepRecords.attempt, stepRecords.attempts), 1),
      ),
    )
    .orderBy(desc(stepRecords.seq))
    .limit(REPEATED)
  return rows.reverse()
}
