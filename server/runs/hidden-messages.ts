import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../context'
import { sensitiveFields } from '../definition/sensitive'
import { pinnedDefinition } from '../run-store/definition'
import { valuesMasker } from '../vault/hide'
import { tenantMasker } from '../vault/masker'

/** Up to this size of a run's input and data together, a list masks hidden values in the message of its failure. */
const MASKED_BYTES = 8 * 1024

interface FailedRun {
  runId: string
  workflowId: string
  workflowVersion: number
  code: string
}

/**
 * The messages of failures for a list, without the values that the runs' workflows hide, by run; only for runs that
 * hide something. Masking needs their data, so one statement reads that of all of them. A larger run shows the code in
 * place of its message, which its own page shows.
 */
export async function hiddenMessages(ctx: ServiceContext, failed: readonly FailedRun[]): Promise<Map<string, string>> {
  const hides = await hiddenNames(ctx, failed)
  if (hides.size === 0) return new Map()
  const [masker, messages] = await Promise.all([tenantMasker(ctx), readMessages(ctx, hides)])
  return new Map(
    failed
      .filter(({ runId }) => hides.has(runId))
      .map(({ runId, code }) => [runId, masker.text(messages.get(runId) ?? code)]),
  )
}

/** The hidden fields of each run that has any, by its id. */
async function hiddenNames(
  ctx: ServiceContext,
  failed: readonly FailedRun[],
): Promise<Map<string, ReadonlySet<string>>> {
  const versions = new Map<string, Promise<ReadonlySet<string>>>()
  const hides = ({ workflowId, workflowVersion }: FailedRun) => {
    const key = `${workflowId}@${workflowVersion}`
    const known = versions.get(key) ?? pinnedDefinition(ctx, workflowId, workflowVersion).then(sensitiveFields)
    versions.set(key, known)
    return known
  }
  const found = await Promise.all(failed.map(async (run) => [run.runId, await hides(run)] as const))
  return new Map(found.filter(([, names]) => names.size > 0))
}

/** The messages of the small runs among these, by id, with the values of these fields masked. */
async function readMessages(
  ctx: ServiceContext,
  hides: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<Map<string, string>> {
  const rows = await ctx.db
    .select({
      runId: runs.id,
      message: sql<string>`${runs.error}->>'message'`,
      input: runs.input,
      data: runs.smallData,
    })
    .from(runs)
    .where(
      and(
        eq(runs.tenantId, ctx.tenantId),
        inArray(runs.id, [...hides.keys()]),
        isNull(runs.dataRefs),
        // The stored size, which is known without reading the values.
        sql`pg_column_size(${runs.input}) + pg_column_size(${runs.smallData}) <= ${MASKED_BYTES}`,
      ),
    )
  return new Map(
    rows.map(({ runId, message, input, data }) => [
      runId,
      // Masked before it is cut, so that no part of a value is left at the end.
      valuesMasker([input, data], hides.get(runId) ?? new Set()).text(message),
    ]),
  )
}
