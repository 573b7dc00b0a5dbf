import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { isJsonObject } from '../../definition/json'
import { HIDDEN, sensitiveFields } from '../../definition/sensitive'
import { runIs } from '../../interpreter/find-run'
import { pinnedDefinition } from '../../interpreter/pinned-definition'
import { RUN_DATA } from '../../interpreter/run-data'
import { valuesMasker } from '../../runs/run-masker'
import { tenantMasker } from '../../vault/masker'
import type { CutValue } from '../value'
import { MESSAGE_CHARS, type RunItem } from './items'

/** Up to this size of its input and data together, a list looks for a failed run's hidden values in its message. */
const MASKED_BYTES = 8 * 1024

/** The sensitive fields at the top of a run's value, each of which can be revealed, however large the value is. */
export async function hiddenFields(
  ctx: ServiceContext,
  runId: string,
  of: 'input' | 'data' | 'result',
  { hides, shown }: { hides: ReadonlySet<string>; shown: CutValue | null },
): Promise<string[]> {
  if (hides.size === 0 || shown === null) return []
  if ('value' in shown) {
    const { value } = shown
    return isJsonObject(value) ? [...hides].filter((name) => value[name] === HIDDEN) : []
  }
  const value = of === 'data' ? RUN_DATA : runs[of]
  const row = ctx.db
    .select({ value: sql`${value}`.as('value') })
    .from(runs)
    .where(runIs(ctx, runId))
    .as('row')
  const found = await ctx.db
    .select({ name: sql<string>`field.key` })
    .from(row)
    .innerJoin(
      sql`jsonb_each(case jsonb_typeof(${row.value}) when 'object' then ${row.value} else '{}' end) field`,
      sql`field.key in ${[...hides]} and field.value not in ('null', '""')`,
    )
  return found.map(({ name }) => name)
}

/**
 * The runs, without what their workflows hide in the messages of failures. Their data is needed to find it there, so one
 * statement reads that of the failed runs that hide something. A larger run has the code in place of its message, which
 * its own page shows.
 */
export async function withoutHiddenMessages(ctx: ServiceContext, items: RunItem[]): Promise<RunItem[]> {
  const hides = await hiddenNames(ctx, items)
  if (hides.size === 0) return items
  const [masker, messages] = await Promise.all([tenantMasker(ctx), readMessages(ctx, hides)])
  return items.map((item) => {
    if (!item.failure || !hides.has(item.runId)) return item
    const message = messages.get(item.runId) ?? item.failure.code
    return { ...item, failure: { ...item.failure, message: masker.text(message).slice(0, MESSAGE_CHARS) } }
  })
}

/** What is hidden of each failed run, by its id, if anything is. */
async function hiddenNames(ctx: ServiceContext, items: RunItem[]): Promise<Map<string, ReadonlySet<string>>> {
  const versions = new Map<string, Promise<ReadonlySet<string>>>()
  const hides = ({ workflowId, workflowVersion }: RunItem) => {
    const key = `${workflowId}@${workflowVersion}`
    const known = versions.get(key) ?? pinnedDefinition(ctx, workflowId, workflowVersion).then(sensitiveFields)
    versions.set(key, known)
    return known
  }
  const failed = items.filter(({ failure }) => failure)
  const found = await Promise.all(failed.map(async (item) => [item.runId, await hides(item)] as const))
  return new Map(found.filter(([, names]) => names.size > 0))
}

/** The messages of those runs that are small, by id, with the values of these fields masked. */
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
        // As it is stored, which is known without reading it.
        sql`pg_column_size(${runs.input}) + pg_column_size(${runs.smallData}) <= ${MASKED_BYTES}`,
      ),
    )
  return new Map(
    rows.map(({ runId, message, input, data }) => [
      runId,
      // Before it is cut, so that no part of a value is left at the end.
      valuesMasker([input, data], hides.get(runId) ?? new Set()).text(message),
    ]),
  )
}
