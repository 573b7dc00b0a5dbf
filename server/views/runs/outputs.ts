import { and, desc, eq, sql } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import { wholeChars } from '@/lib/whole-chars'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { requireRun } from '../../run-store/find-run'
import { runMaskerOf } from '../../runs/run-masker'

/** More steps than any workflow whose graph people look at. */
const MAX = 500
/** Larger outputs are not worth reading for one line. */
const MAX_BYTES = 16 * 1024
const CHARS = 160

/**
 * The output of each step's latest completed visit in one line, for a run's graph; null if too large.
 * @throws AppError RUN_NOT_FOUND
 */
export async function readOutputs(
  ctx: ServiceContext,
  { runId }: { runId: string },
): Promise<Record<string, string | null>> {
  authorize(ctx, 'run:read')
  await requireRun(ctx, runId)
  const latest = ctx.db
    .selectDistinctOn([stepRecords.stepId], {
      stepId: stepRecords.stepId,
      output:
        sql<unknown>`case when pg_column_size(${stepRecords.outputData}) <= ${MAX_BYTES} then ${stepRecords.outputData} end`.as(
          'output',
        ),
    })
    .from(stepRecords)
    .where(
      and(eq(stepRecords.tenantId, ctx.tenantId), eq(stepRecords.runId, runId), eq(stepRecords.status, 'completed')),
    )
    .orderBy(stepRecords.stepId, desc(stepRecords.seq))
    .limit(MAX)
  const [rows, masker] = await Promise.all([latest, runMaskerOf(ctx, runId)])
  const lines: Record<string, string | null> = {}
  for (const { stepId, output } of rows) {
    // Mask before cutting: half a secret would not be recognised.
    lines[stepId] = output === null ? null : oneLine(masker.json(output as never))
  }
  return lines
}

function oneLine(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length <= CHARS ? text : `${wholeChars(text, CHARS)}…`
}
