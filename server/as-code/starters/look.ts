import { createHash } from 'node:crypto'
import { and, eq, type SQL } from 'drizzle-orm'
import { appliedDefinitions } from '@/db/schema/applied'
import type { ServiceContext, TransactionContext } from '../../context'
import type { JsonValue } from '../../definition/json'
import { isJsonObject, pathText } from '../../definition/json'
import type { Masker } from '../../vault/mask'
import { unmasked } from '../../vault/unmask'
import type { Applied } from '../look'
import type { StarterContent, StarterKind, StarterRow } from './kinds'

/** An object as it is on the server. */
export interface SeenStarter {
  row: StarterRow
  /** As stored. */
  stored: StarterContent
  /** As shown and exported, without values of the vault. */
  content: StarterContent
  /** The masker that it is shown with. */
  masker: Masker
}

/** The objects of a kind that `where` selects, by id, without locks. */
export async function lookAtStarters(
  ctx: ServiceContext,
  kind: StarterKind,
  where: SQL | undefined,
  vault: Masker,
): Promise<Map<string, SeenStarter>> {
  const { table } = kind
  const rows: StarterRow[] = await ctx.db
    .select()
    .from(table)
    .where(and(eq(table.tenantId, ctx.tenantId), where))
  const maskerOf = await kind.maskers(ctx, rows, vault)
  return new Map(
    rows.map((row) => {
      const stored = kind.ofRow(row)
      const masker = maskerOf(row.id)
      return [row.id, { row, stored, content: masked(stored, masker), masker }]
    }),
  )
}

/** The content applied last, by id. */
export async function appliedStarters(
  { db, tenantId }: ServiceContext,
  { word }: StarterKind,
): Promise<Map<string, Applied>> {
  const rows = await db
    .select()
    .from(appliedDefinitions)
    .where(and(eq(appliedDefinitions.tenantId, tenantId), eq(appliedDefinitions.kind, word)))
  return new Map(rows.map((row) => [row.id, row]))
}

/** Locks the row. @returns its current state; undefined if it is gone */
export async function lockStarter(
  { db, tenantId }: TransactionContext,
  { table }: StarterKind,
  id: string,
): Promise<StarterRow | undefined> {
  const rows: StarterRow[] = await db
    .select()
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.id, id)))
    .for('update')
  return rows[0]
}

function masked<C extends StarterContent>(content: C, masker: Masker): C {
  const fields = Object.entries(content).map(([name, value]) => [name, masker.json(value)])
  return Object.fromEntries(fields)
}

/**
 * The stored meaning of a definition: parts equal to the export stay as stored.
 * @returns also the places of masks without a value behind them
 */
export function meant<C extends StarterContent>(
  wanted: C,
  seen: SeenStarter | undefined,
  vault: Masker,
): { means: C; left: string[] } {
  // Every field of a content is JSON, which its type does not express.
  const fields = Object.fromEntries(Object.entries(wanted))
  const { value, left } = unmasked(
    fields,
    Object.fromEntries(Object.entries(seen?.stored ?? {})),
    seen?.masker ?? vault,
  )
  return { means: value as unknown as C, left: left.map((path) => pathText(path)) }
}

/** Identifies a content, whatever the order of its names. */
export function fingerprintOf(kind: StarterKind, content: StarterContent): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(kind.write(content))))
    .digest('base64url')
}

function sorted(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isJsonObject(value)) return value ?? null
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]))
}
