import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { tenantMasker } from '../vault/masker'
import { type Jsonb, type PauseRow, type PresentedRun, presentRun, type StepRecordRow } from './present'

/**
 * The run with its history and open pauses, all as of one moment: one statement reads them.
 * @throws AppError RUN_NOT_FOUND
 */
export async function getRunStatus(ctx: ServiceContext, runId: string): Promise<PresentedRun> {
  authorize(ctx, 'run:read')
  if (!isId(runId)) throw new AppError('RUN_NOT_FOUND')
  const [[row], masker] = await Promise.all([readRun(ctx, runId), tenantMasker(ctx)])
  if (!row) throw new AppError('RUN_NOT_FOUND')
  return presentRun(
    row.run,
    row.steps.map(camelKeys<Jsonb<StepRecordRow>>),
    row.open.map(camelKeys<Jsonb<PauseRow>>),
    masker,
  )
}

/** Spelled out, because Drizzle leaves a column's table out in a selection from one table. */
function readRun(ctx: ServiceContext, runId: string) {
  return ctx.db
    .select({
      run: getTableColumns(runs),
      steps: sql<Record<string, unknown>[]>`(
        select coalesce(jsonb_agg(to_jsonb(s) - 'config' - 'receipt' - 'delta' order by s.seq), '[]'::jsonb)
        from ${stepRecords} s where s.tenant_id = runs.tenant_id and s.run_id = runs.id)`,
      open: sql<Record<string, unknown>[]>`(
        select coalesce(json_agg(to_json(p) order by p.created_at, p.id), '[]'::json)
        from ${pauses} p
        where p.tenant_id = runs.tenant_id and p.run_id = runs.id and p.answered_at is null and p.kind <> 'timer')`,
    })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), eq(runs.id, runId)))
}

/** A row aggregated in SQL has the columns' own names. */
function camelKeys<Row>(row: Record<string, unknown>): Row {
  const entries = Object.entries(row).map(([key, value]) => [
    key.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
    value,
  ])
  return Object.fromEntries(entries)
}
