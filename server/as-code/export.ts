import { and, asc, eq, gt, inArray, ne, sql } from 'drizzle-orm'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import { parseInput } from '../parse'
import { KINDS, type Kind } from './kinds'
import { lookAt } from './look'
import { ExportDefinitions, type Plural } from './schema'

/** What an answer has at most, unless one definition is larger: some platforms refuse more than 4.5 MB. */
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
  const first = KINDS.findIndex(({ plural }) => plural === from)
  let bytes = 0
  let next: string | null = null
  for (const kind of KINDS.slice(Math.max(0, first))) {
    if (only !== undefined && kind.plural !== only) continue
    let last = kind.plural === from ? afterId : ''
    for (;;) {
      const sizes = await sizesAfter(ctx, kind, last)
      const fitting: string[] = []
      for (const { id, size } of sizes) {
        // The first of a page fits in any case.
        if (next !== null && bytes + size > PAGE_BYTES) break
        bytes += size
        fitting.push(id)
        next = `${kind.plural}/${id}`
        last = id
      }
      found[kind.plural].push(...(await readAll(ctx, kind, fitting)))
      if (fitting.length < sizes.length) return { ...found, next }
      if (sizes.length < BATCH) break
    }
  }
  return { ...found, next: null }
}

/** The next objects and how large they are about, in the order of the bytes of their ids, whatever the database's own. */
async function sizesAfter(ctx: ServiceContext, { noun }: Kind, after: string): Promise<{ id: string; size: number }[]> {
  const { table, versions, ownerId } = noun
  const id = sql`${table.id} collate "C"`
  return ctx.db
    .select({ id: table.id, size: sql<number>`octet_length(to_jsonb(${versions})::text)` })
    .from(table)
    .innerJoin(
      versions,
      and(eq(versions.tenantId, table.tenantId), eq(ownerId, table.id), eq(versions.version, table.version)),
    )
    .where(and(eq(table.tenantId, ctx.tenantId), ne(table.status, 'archived'), gt(id, after)))
    .orderBy(asc(id))
    .limit(BATCH)
}

async function readAll(ctx: ServiceContext, kind: Kind, ids: string[]): Promise<Definitions[Plural]> {
  if (ids.length === 0) return []
  const seen = await lookAt(ctx, kind, inArray(kind.noun.table.id, ids))
  return ids.flatMap((id) => {
    const content = seen.get(id)?.content
    return content ? [{ id, ...kind.write(content) }] : []
  })
}
