import { and, eq, lte, type SQL, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import type { JsonLike } from '../../definition/json'
import { sensitiveFields, withoutFields } from '../../definition/sensitive'
import { hasText } from '../../query/search-text'
import { pinnedDefinition } from '../../run-store/definition'
import { tenantMasker } from '../../vault/masker'

const LIMITS = {
  /** How many runs a search for a value examines: values have no index, so it reads each of them. */
  searched: 2_000,
  found: 200,
  /** Of a run's input and result, as text. Only the run's own page shows more of larger values. */
  bytes: 32_768,
  /** Of all matching runs: they are in memory while they are masked. */
  together: 2 * 1024 * 1024,
}
/** Shorter texts occur in nearly every run. */
const SHORTEST = 3

const stored = sql`pg_column_size(${runs.input}) + coalesce(pg_column_size(${runs.result}), 0)`
const written = sql`octet_length(${runs.input}::text) + coalesce(octet_length(${runs.result}::text), 0)`

/**
 * The newest matching runs with a text in a value of their input or result. Ignores field names and masked values: a
 * search must not reveal what a read hides.
 */
export async function runsContaining(
  ctx: ServiceContext,
  text: string,
  matching: SQL | undefined,
  limits: Partial<typeof LIMITS> = {},
): Promise<string[]> {
  if (text.length < SHORTEST) return []
  const most = { ...LIMITS, ...limits }
  // As the text appears inside JSON.
  const inJson = JSON.stringify(text).slice(1, -1)
  const byTime = sql`${runs.startTime} desc, ${runs.id} desc`
  const newest = ctx.db
    .select({ id: runs.id })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), matching))
    .orderBy(byTime)
    .limit(most.searched)
    .as('newest')
  // The stored size is known without reading the value, but the value may be compressed a hundredfold. `case`
  // guarantees the order of evaluation.
  const hit = sql`case when ${stored} > ${most.bytes} then false when ${written} > ${most.bytes} then false
    else ${hasText(sql`${runs.input}::text`, inJson)} or coalesce(${hasText(sql`${runs.result}::text`, inJson)}, false) end`
  const hits = ctx.db
    .select({ id: runs.id, through: sql<number>`sum(${written}) over (order by ${byTime})`.as('through') })
    .from(runs)
    .innerJoin(newest, eq(newest.id, runs.id))
    .where(and(eq(runs.tenantId, ctx.tenantId), hit))
    .orderBy(byTime)
    .limit(most.found)
    .as('hits')
  const [rows, masker] = await Promise.all([
    ctx.db
      .select({
        id: runs.id,
        workflowId: runs.workflowId,
        workflowVersion: runs.workflowVersion,
        input: runs.input,
        result: runs.result,
      })
      .from(runs)
      .innerJoin(hits, eq(hits.id, runs.id))
      .where(and(eq(runs.tenantId, ctx.tenantId), lte(hits.through, most.together)))
      .orderBy(byTime),
    tenantMasker(ctx),
  ])
  const wanted = text.normalize('NFC').toLowerCase()
  const found: string[] = []
  for (const { id, workflowId, workflowVersion, input, result } of rows) {
    const hides = sensitiveFields(await pinnedDefinition(ctx, workflowId, workflowVersion))
    const shown = [input, result].map((value) => masker.json(withoutFields(value, hides)))
    if (isIn(shown, wanted)) found.push(id)
  }
  return found
}

function isIn(value: JsonLike, wanted: string): boolean {
  if (typeof value === 'string') return value.normalize('NFC').toLowerCase().includes(wanted)
  if (typeof value === 'number') return String(value).includes(wanted)
  return typeof value === 'object' && value !== null && Object.values(value).some((part) => isIn(part, wanted))
}
