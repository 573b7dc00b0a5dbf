import { and, asc, eq, gt, inArray, type SQL, sql } from 'drizzle-orm'
import { allows, authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import { parseInput } from '../parse'
import { tenantMasker } from '../vault/masker'
import { KINDS } from './all-kinds'
import { type Kind, VERSIONED_KINDS } from './kinds'
import { lookAt } from './look'
import { ExportDefinitions, type Plural } from './schema'
import { STARTER_KINDS } from './starters/kinds'
import { lookAtStarters } from './starters/look'

/** The maximum size of a response, unless one definition is larger: some platforms reject more than 4.5 MB. */
const PAGE_BYTES = 3 * 1024 * 1024
const BATCH = 50

type Definition = { id: string } & JsonObject
type Definitions = Record<Plural, Definition[]>
type Exported = Omit<Definitions, 'inboundWebhooks'> & Partial<Definitions>

/**
 * The latest saved definitions of all objects that are not archived, sorted by id, in the form `apply` takes. Includes
 * inbound webhooks only for people who may change them: a condition may compare with a secret of the sender.
 * @throws AppError INVALID_INPUT
 */
export async function exportDefinitions(
  ctx: ServiceContext,
  query: unknown,
): Promise<Exported & { next: string | null }> {
  for (const noun of ['workflow', 'agent', 'tool'] as const) authorize(ctx, `${noun}:read`)
  const { kind: only, after } = parseInput(ExportDefinitions, query)
  const sees = allows(ctx, 'workflow:publish')
  const kinds = KINDS.filter(({ plural }) => sees || plural !== 'inboundWebhooks')
  const [from, afterId = ''] = after?.split('/') ?? []
  const others = { tools: [], agents: [], workflows: [], schedules: [] }
  const found = sees ? { ...others, inboundWebhooks: [] } : others
  const lists: Partial<Definitions> = found
  const first = kinds.findIndex(({ plural }) => plural === from)
  let bytes = 0
  let next: string | null = null
  for (const kind of kinds.slice(Math.max(0, first))) {
    if (only !== undefined && kind.plural !== only) continue
    let last = kind.plural === from ? afterId : ''
    for (;;) {
      const sizes = await sizesAfter(ctx, kind, last)
      const fitting: string[] = []
      for (const { id, size } of sizes) {
        // The first of a page always fits.
        if (next !== null && bytes + size > PAGE_BYTES) break
        bytes += size
        fitting.push(id)
        next = `${kind.plural}/${id}`
        last = id
      }
      lists[kind.plural]?.push(...(await readAll(ctx, kind, fitting)))
      if (fitting.length < sizes.length) return { ...found, next }
      if (sizes.length < BATCH) break
    }
  }
  return { ...found, next: null }
}

/** The next objects and their approximate size, in byte order of their ids, whatever the database's collation. */
async function sizesAfter(ctx: ServiceContext, kind: Kind, after: string): Promise<{ id: string; size: number }[]> {
  const { table, isThere } = kind
  const id = sql`${table.id} collate "C"`
  const where = and(eq(table.tenantId, ctx.tenantId), isThere, gt(id, after))
  const versioned = VERSIONED_KINDS.find((one) => one === kind)
  if (!versioned) {
    const size = sql<number>`octet_length(to_jsonb(${table})::text)`
    return ctx.db.select({ id: table.id, size }).from(table).where(where).orderBy(asc(id)).limit(BATCH)
  }
  const { versions, ownerId } = versioned.noun
  return ctx.db
    .select({ id: table.id, size: sql<number>`octet_length(to_jsonb(${versions})::text)` })
    .from(table)
    .innerJoin(
      versions,
      and(
        eq(versions.tenantId, table.tenantId),
        eq(ownerId, table.id),
        eq(versions.version, versioned.noun.table.version),
      ),
    )
    .where(where)
    .orderBy(asc(id))
    .limit(BATCH)
}

async function readAll(ctx: ServiceContext, kind: Kind, ids: string[]): Promise<Definition[]> {
  if (ids.length === 0) return []
  const seen = await contentsOf(ctx, kind, inArray(kind.table.id, ids))
  return ids.flatMap((id) => {
    const content = seen.get(id)?.content
    return content ? [{ id, ...kind.write(content) }] : []
  })
}

async function contentsOf(ctx: ServiceContext, kind: Kind, where: SQL | undefined) {
  const versioned = VERSIONED_KINDS.find((one) => one === kind)
  if (versioned) return lookAt(ctx, versioned, where)
  const starter = STARTER_KINDS.find((one) => one === kind)
  return starter ? lookAtStarters(ctx, starter, where, await tenantMasker(ctx)) : new Map<string, never>()
}
