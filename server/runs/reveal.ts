import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { RUN_DATA } from '@/db/run-data'
import { runs } from '@/db/schema/runs'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import type { JsonValue } from '../definition/json'
import { sensitiveFields } from '../definition/sensitive'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { pinnedDefinition } from '../run-store/definition'
import { getRunRow } from '../run-store/find-run'
import { tenantMasker } from '../vault/masker'

export const RevealField = z.object({
  runId: z.string(),
  of: z.enum(['input', 'data', 'result']),
  /** The name of a sensitive field, after that of the object in run data that has it, if any: `decision.iban`. */
  field: z.string().max(201),
})
export type RevealField = z.input<typeof RevealField>

/**
 * The value of one sensitive field, for a user who may see it. The audit log records who saw which field of which run,
 * but not its value. Values of the vault stay masked.
 * @throws AppError FORBIDDEN, RUN_NOT_FOUND, INVALID_INPUT when the run hides no such field
 */
export async function revealField(ctx: ServiceContext, input: unknown): Promise<{ value: JsonValue }> {
  authorize(ctx, 'run:reveal')
  const { runId, of, field } = parseInput(RevealField, input)
  return withTransaction(ctx, async (tx) => {
    const run = await getRunRow(tx, runId)
    const definition = await pinnedDefinition(tx, run.workflowId, run.workflowVersion)
    // No name has a point.
    const path = field.split('.')
    const [row] = await tx.db
      // Not the whole value, which may be large.
      .select({ value: sql<JsonValue>`${of === 'data' ? RUN_DATA : runs[of]} #> ${sql.param(path)}::text[]` })
      .from(runs)
      .where(and(eq(runs.tenantId, tx.tenantId), eq(runs.id, runId)))
    const value = row?.value ?? null
    if (path.length > 2 || !sensitiveFields(definition).has(path.at(-1) ?? '') || value === null)
      throw new AppError('INVALID_INPUT', { details: [{ path: 'field', message: 'is not hidden in this run' }] })
    await record(tx, 'run.revealed', { id: runId, name: run.workflowName }, { of, field })
    return { value: (await tenantMasker(tx)).json(value) }
  })
}
