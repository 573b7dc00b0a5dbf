import { and, eq, inArray } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import type { AuditEntry } from '../audit-log/list'
import type { ServiceContext } from '../context'
import type { Masker } from '../vault/mask'

/** Adds the run's step names to entries about its steps, as long as the run exists; the log has only ids. */
export async function withStepNames(ctx: ServiceContext, entries: AuditEntry[], masker: Masker): Promise<AuditEntry[]> {
  const about = entries.flatMap(({ thing, details: { step } }) =>
    thing.kind === 'run' && typeof step === 'string' ? [{ runId: thing.id, step }] : [],
  )
  if (about.length === 0) return entries
  const { tenantId, runId, stepId, stepName } = stepRecords
  const rows = await ctx.db
    .selectDistinct({ runId, stepId, stepName })
    .from(stepRecords)
    .where(
      and(
        eq(tenantId, ctx.tenantId),
        inArray(runId, [...new Set(about.map((one) => one.runId))]),
        inArray(stepId, [...new Set(about.map(({ step }) => step))]),
      ),
    )
  const names = new Map(rows.map((row) => [`${row.runId} ${row.stepId}`, masker.text(row.stepName)]))
  return entries.map((entry) => {
    const name = names.get(`${entry.thing.id} ${entry.details.step}`)
    return name === undefined ? entry : { ...entry, details: { ...entry.details, step: name } }
  })
}
