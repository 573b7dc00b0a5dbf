import { and, asc, eq, gt, inArray, ne, sql } from 'drizzle-orm'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { type JsonObject, jsonSize } from '../definition/json'
import { parseInput } from '../parse'
import { KINDS, type Kind } from './kinds'
import { lookAt } from './look'
import { ExportDefinitions, type Plural } from './schema'

/** What an answer may have before it ends, and the rest is another page: some platforms refuse more than 4.5 MB. */
const PAGE_BYTES = 3 * 1024 * 1024
const BATCH = 50

type Definitions = Record<Plural, ({ id: string } & JsonObject)[]>

/**
 * The latest saved definitions of everything that is not archived, sorted by id, as `apply` takes them.
 * @throws AppError INVALID_INPUT
 */
export async function exportDefinitions(
  ctx: ServiceContext,
  query: unknown,
): Promise<Definitions & { next: string | null }> {
  for (const noun of ['workflow', 'agent', 'tool'] as const) authorize(ctx, `${noun}:read`)
  const { kind: only, after } = parseInput(ExportDefinitions, query)
  const [from, afterId = ''] = after?.split('/') ?? []
  const found: Definitions = { tools: [], agents: [], workflows: [] }
  let bytes = 0
  for (const kind of KINDS.slice(
    Math.max(
      0,
      KINDS.findIndex(({ plural }) => plural === from),
    ),
  )) {
    if (only !== undefined && kind.plural !== only) continue
    let last = kind.plural === from ? afterId : ''
    for (;;) {
      const batch = await readBatch(ctx, kind, last)
      for (const item of batch) {
        found[kind.plural].push(item)
        bytes += jsonSize(item)
        last = item.id
      }
      if (bytes > PAGE_BYTES) return { ...found, next: `${kind.plural}/${last}` }
      if (batch.length < BATCH) break
    }
  }
  return { ...found, next: null }
}

async function readBatch(ctx: ServiceContext, kind: Kind, after: string): Promise<Definitions[Plural]> {
  const { table } = kind.noun
  // In the order of their bytes, whatever the database's own.
  const id = sql`${table.id} collate "C"`
  const rows = await ctx.db
    .select({ id: table.id })
    .from(table)
    .where(and(eq(table.tenantId, ctx.tenantId), ne(table.status, 'archived'), gt(id, after)))
    .orderBy(asc(id))
    .limit(BATCH)
  if (rows.length === 0) return []
  const seen = await lookAt(
    ctx,
    kind,
    inArray(
      table.id,
      rows.map(({ id }) => id),
    ),
  )
  return rows.flatMap(({ id }) => {
    const content = seen.get(id)?.content
    return content ? [{ id, ...kind.write(content) }] : []
  })
}
