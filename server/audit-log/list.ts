import { and, desc, eq, gte, lt, sql } from 'drizzle-orm'
import { z } from 'zod'
import { auditEntries } from '@/db/schema/audit'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { NOT_OF_THIS_LIST, readCursor, writeCursor } from '../query/cursor'
import type { Masker } from '../vault/mask'
import { tenantMasker } from '../vault/masker'
import { type AuditFilter, ListAudit } from './schema'

const DEFAULT_LIMIT = 50

type Row = typeof auditEntries.$inferSelect

/**
 * The entries of the audit log, newest first. A page starts after the last entry of the previous one.
 * @throws AppError INVALID_INPUT
 */
export async function listAudit(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'audit:read')
  const { limit = DEFAULT_LIMIT, cursor, format: _format, ...filter } = parseInput(ListAudit, input)
  return await readEntries(ctx, filter, limit, cursor)
}

/** A page of the matching entries, without values of the vault. @throws AppError INVALID_INPUT */
export async function readEntries(ctx: ServiceContext, filter: AuditFilter, limit: number, cursor: string | undefined) {
  const { tenantId, actorId, action, thingKind, thingId, at, seq } = auditEntries
  const after = cursor === undefined ? null : positionOf(cursor)
  const found = await ctx.db
    .select()
    .from(auditEntries)
    .where(
      and(
        eq(tenantId, ctx.tenantId),
        filter.actor === undefined ? undefined : eq(actorId, filter.actor),
        filter.action === undefined ? undefined : eq(action, filter.action),
        filter.kind === undefined ? undefined : eq(thingKind, filter.kind),
        filter.thing === undefined ? undefined : eq(thingId, filter.thing),
        filter.from === undefined ? undefined : gte(at, new Date(filter.from)),
        filter.to === undefined ? undefined : lt(at, new Date(filter.to)),
        after ? sql`(${at}, ${seq}) < (${after.at}::timestamptz, ${after.seq}::bigint)` : undefined,
      ),
    )
    .orderBy(desc(at), desc(seq))
    .limit(limit + 1)
  const masker = await tenantMasker(ctx)
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return {
    entries: rows.map((row) => presentEntry(row, masker)),
    nextCursor: found.length > limit && last ? writeCursor([last.at, last.seq]) : null,
  }
}

function presentEntry(row: Row, masker: Masker) {
  return {
    id: row.id,
    at: row.at.toISOString(),
    actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
    action: row.action,
    thing: { kind: row.thingKind, id: row.thingId, name: masker.text(row.thingName) },
    // Names of workflows, tools and people's reasons may contain a value of the vault.
    details: masker.json(row.details),
    requestId: row.requestId || null,
    address: row.address,
  }
}

export type AuditEntry = ReturnType<typeof presentEntry>

const Cursor = z.tuple([z.iso.datetime().startsWith('2'), z.int().positive()])

function positionOf(cursor: string): { at: string; seq: number } {
  const [at, seq] = readCursor(Cursor, cursor, NOT_OF_THIS_LIST)
  return { at, seq }
}
