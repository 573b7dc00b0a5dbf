import { and } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { csvFile } from '../../http/csv'
import { parseInput } from '../../parse'
import { newestFirst, RunFilter, runsWhere } from './filter'
import { withoutHiddenMessages } from './hidden'
import { type RunItem, readRunItems } from './items'

const MAX = 5_000
/** Runs per read, so that memory stays small. */
const CHUNK = 500

export const ExportRuns = RunFilter
export type ExportRuns = RunFilter

const COLUMNS: [name: string, of: (run: RunItem) => string | number | boolean | null][] = [
  ['run', ({ runId }) => runId],
  ['businessKey', ({ businessKey }) => businessKey],
  ['workflow', ({ workflowName }) => workflowName],
  ['version', ({ workflowVersion }) => workflowVersion],
  ['state', ({ state }) => state],
  ['test', ({ startedVia }) => startedVia === 'test'],
  ['started', ({ startTime }) => startTime],
  ['ended', ({ endTime }) => endTime],
  ['durationMs', ({ startTime, endTime }) => (endTime ? Date.parse(endTime) - Date.parse(startTime) : null)],
  ['startedBy', ({ startedBy }) => startedBy?.name ?? null],
  ['waitingFor', ({ waiting }) => waiting && (waiting.title ?? waiting.stepName ?? waiting.stepId)],
  ['failedAt', ({ failure }) => failure && (failure.stepName ?? failure.stepId)],
  ['errorCode', ({ failure }) => failure?.code ?? null],
  ['error', ({ failure }) => failure?.message ?? null],
]

/**
 * The newest matching runs as CSV with a header. Escapes text that a spreadsheet would treat as a formula.
 * @throws AppError INVALID_INPUT
 */
export async function exportRuns(ctx: ServiceContext, input: unknown): Promise<{ csv: string; more: boolean }> {
  authorize(ctx, 'run:read')
  const where = await runsWhere(ctx, parseInput(ExportRuns, input))
  const ids = where === null ? [] : await findIds(ctx, where)
  const rows: RunItem[] = []
  for (let at = 0; at < Math.min(ids.length, MAX); at += CHUNK)
    rows.push(...(await withoutHiddenMessages(ctx, await readRunItems(ctx, ids.slice(at, Math.min(at + CHUNK, MAX))))))
  return { csv: csvFile(rows, COLUMNS), more: ids.length > MAX }
}

async function findIds(ctx: ServiceContext, where: Awaited<ReturnType<typeof runsWhere>>): Promise<string[]> {
  const found = await ctx.db
    .select({ id: runs.id })
    .from(runs)
    .where(and(where ?? undefined))
    .orderBy(...newestFirst)
    .limit(MAX + 1)
  return found.map(({ id }) => id)
}
