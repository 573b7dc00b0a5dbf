import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { appliedDefinitions } from '@/db/schema/applied'
import type { ServiceContext, TransactionContext } from '../context'
import type { Named, Row, VersionRow } from '../versioned/noun'
import { ownRow, ownVersion } from '../versioned/rows'
import type { Kind, VersionedKind } from './kinds'

export type Applied = typeof appliedDefinitions.$inferSelect

/** An object as it is on the server. */
export interface Seen {
  row: Row
  /** Its latest version. */
  version: VersionRow
  content: Named
  applied: Applied | null
  /** The content applied last; null if that version is gone. */
  appliedContent: Named | null
}

/** The objects of a kind that `where` selects, by id, without locks. */
export async function lookAt(
  ctx: ServiceContext,
  kind: VersionedKind,
  where: SQL | undefined,
): Promise<Map<string, Seen>> {
  const { noun } = kind
  const { table, versions } = noun
  const applied = appliedDefinitions
  const found = await ctx.db
    .select({ row: table, version: versions, applied })
    .from(table)
    .innerJoin(
      versions,
      and(eq(versions.tenantId, table.tenantId), eq(noun.ownerId, table.id), eq(versions.version, table.version)),
    )
    .leftJoin(applied, and(eq(applied.tenantId, table.tenantId), eq(applied.kind, noun.word), eq(applied.id, table.id)))
    .where(and(eq(table.tenantId, ctx.tenantId), where))
  const moved = found.filter(({ row, applied }) => applied !== null && applied.version !== row.version)
  const earlier = await contentsApplied(
    ctx,
    kind,
    moved.map(({ row }) => row.id),
  )
  return new Map(
    found.map(({ row, version, applied }) => {
      const latest = ownVersion(noun, version)
      const content = noun.contentOf(latest)
      const same = applied?.version === row.version
      const appliedContent = same ? content : (earlier.get(row.id) ?? null)
      return [row.id, { row: ownRow(noun, row), version: latest, content, applied, appliedContent }]
    }),
  )
}

/**
 * Locks the selected objects of a kind by id, so that holders of several never deadlock. Transactions that only refer
 * to one, such as a new thread of an agent, do not wait.
 */
export async function hold(
  { db, tenantId }: TransactionContext,
  { table }: Kind,
  where: SQL | undefined,
): Promise<void> {
  await db
    .select({ id: table.id })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), where))
    .orderBy(table.id)
    .for('no key update')
}

/** The ids of the objects of a kind that `where` selects. */
export async function idsWhere({ db, tenantId }: ServiceContext, { table }: Kind, where: SQL | undefined) {
  const rows = await db
    .select({ id: table.id })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), where))
  return rows.map(({ id }) => id)
}

async function contentsApplied(
  ctx: ServiceContext,
  { noun }: VersionedKind,
  ids: string[],
): Promise<Map<string, Named>> {
  if (ids.length === 0) return new Map()
  const applied = appliedDefinitions
  const { versions, ownerId } = noun
  const rows = await ctx.db
    .select({ id: applied.id, version: versions })
    .from(applied)
    .innerJoin(
      versions,
      and(eq(versions.tenantId, applied.tenantId), eq(ownerId, applied.id), eq(versions.version, applied.version)),
    )
    .where(and(eq(applied.tenantId, ctx.tenantId), eq(applied.kind, noun.word), inArray(applied.id, ids)))
  return new Map(rows.map(({ id, version }) => [id, noun.contentOf(ownVersion(noun, version))]))
}

/**
 * The newest remaining version of each of these ids: a workflow that was deleted for good leaves its runs' versions.
 */
export async function versionsLeft(
  ctx: ServiceContext,
  { noun }: VersionedKind,
  ids: string[],
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map()
  const { versions, ownerId } = noun
  const rows = await ctx.db
    .select({ id: ownerId, version: sql<number>`max(${versions.version})` })
    .from(versions)
    .where(and(eq(versions.tenantId, ctx.tenantId), inArray(ownerId, ids)))
    .groupBy(ownerId)
  return new Map(rows.map(({ id, version }) => [id, version]))
}
