import { and, eq, type SQL, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import type { JsonLike } from '../../definition/json'
import { contains } from '../../search-text'
import { tenantMasker } from '../../vault/masker'

/** How many runs a search for a value looks at: no index knows values, so each of them is read. */
const MOST_SEARCHED = 2_000
const MOST_FOUND = 1_000
/** Of larger values, only the run's own page shows anything. */
const MOST_BYTES = 32_768
/** Shorter texts are in nearly every run. */
const SHORTEST = 3

/**
 * The newest of the matching runs that have a text in a value of their input or result. Names of fields do not count, and
 * neither does what is masked: a search must not tell what a read would not.
 */
export async function runsContaining(ctx: ServiceContext, text: string, matching: SQL | undefined): Promise<string[]> {
  if (text.length < SHORTEST) return []
  // As the text is inside a JSON text.
  const inJson = contains(JSON.stringify(text).slice(1, -1))
  const newest = ctx.db
    .select({ id: runs.id })
    .from(runs)
    .where(matching)
    .orderBy(sql`${runs.startTime} desc`, sql`${runs.id} desc`)
    .limit(MOST_SEARCHED)
    .as('newest')
  const [rows, masker] = await Promise.all([
    ctx.db
      .select({ id: runs.id, input: runs.input, result: runs.result })
      .from(runs)
      .innerJoin(newest, eq(newest.id, runs.id))
      .where(
        and(
          eq(runs.tenantId, ctx.tenantId),
          sql`pg_column_size(${runs.input}) + coalesce(pg_column_size(${runs.result}), 0) <= ${MOST_BYTES}`,
          sql`(${runs.input}::text ilike ${inJson} or ${runs.result}::text ilike ${inJson})`,
        ),
      )
      .limit(MOST_FOUND),
    tenantMasker(ctx),
  ])
  const wanted = text.toLowerCase()
  return rows
    .filter(({ input, result }) => hasText(masker.json(input), wanted) || hasText(masker.json(result), wanted))
    .map(({ id }) => id)
}

function hasText(value: JsonLike, wanted: string): boolean {
  if (typeof value === 'string') return value.toLowerCase().includes(wanted)
  if (typeof value === 'number') return String(value).includes(wanted)
  return typeof value === 'object' && value !== null && Object.values(value).some((part) => hasText(part, wanted))
}
