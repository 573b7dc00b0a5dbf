import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { drafts } from '@/db/schema/drafts'
import type { ServiceContext, TransactionContext } from '../context'
import type { JsonObject } from '../definition/json'
import { AppError, type ErrorDetail } from '../errors'
import type { Named, Noun, Row, VersionRow } from './noun'
import { findRow } from './rows'

/** Agents and tools have a draft beside their versions; a workflow's draft is its newest version. */
export interface Drafted<R extends Row, V extends VersionRow, C extends Named, W> extends Noun<R, V, C, W> {
  word: 'agent' | 'tool'
  /**
   * The content that publishing the draft would make.
   * @throws AppError INVALID_INPUT
   */
  withDraft(current: C, draft: JsonObject): C
}

export type DraftRow = typeof drafts.$inferSelect

/** A draft, for its editors. */
export interface PresentedDraft {
  /** Zero if it never existed. */
  revision: number
  baseVersion: number
  content: JsonObject | null
  /** When it was last saved; null without content. */
  at: string | null
  by: string | null
  /** Why it cannot be published as it is. */
  problems: ErrorDetail[]
}

/** The revision that the caller saw. */
export const Revision = z.number().int().min(0)

/**
 * The draft of a locked row; null if it never existed.
 * @throws AppError VERSION_CONFLICT if it is not the revision that the caller saw
 */
export async function findDraft<R extends Row>(
  tx: TransactionContext,
  noun: Pick<Drafted<R, VersionRow, Named, unknown>, 'word'>,
  row: Pick<Row, 'id' | 'version'>,
  revision: number,
): Promise<DraftRow | null> {
  const [found] = await tx.db
    .select()
    .from(drafts)
    .where(and(eq(drafts.tenantId, tx.tenantId), eq(drafts.noun, noun.word), eq(drafts.id, row.id)))
  if ((found?.revision ?? 0) !== revision) throw draftConflict(row)
  return found ?? null
}

/**
 * Writes the next revision of a locked row's draft.
 * @throws AppError VERSION_CONFLICT
 */
export async function writeDraft<R extends Row>(
  tx: TransactionContext,
  noun: Pick<Drafted<R, VersionRow, Named, unknown>, 'word'>,
  row: Pick<Row, 'id' | 'version'>,
  { revision, baseVersion, content }: { revision: number; baseVersion: number; content: JsonObject | null },
): Promise<DraftRow> {
  await findDraft(tx, noun, row, revision)
  const next = { revision: revision + 1, baseVersion, content, updatedBy: tx.actor.id, updatedAt: tx.now() }
  const draft = { tenantId: tx.tenantId, noun: noun.word, id: row.id, ...next }
  await tx.db
    .insert(drafts)
    .values(draft)
    .onConflictDoUpdate({ target: [drafts.tenantId, drafts.noun, drafts.id], set: next })
  return draft
}

/** @throws AppError the noun's `notFound` or `archived` */
export async function lockForDraft<R extends Row, V extends VersionRow, C extends Named, W>(
  tx: TransactionContext,
  noun: Noun<R, V, C, W>,
  id: string,
): Promise<R> {
  const row = await findRow(tx, noun, id, { lock: true })
  if (row.status === 'archived') throw new AppError(noun.archived)
  return row
}

export async function presentDraft<R extends Row, V extends VersionRow, C extends Named, W>(
  ctx: ServiceContext,
  noun: Drafted<R, V, C, W>,
  row: R,
  current: C,
  draft: DraftRow | null,
): Promise<PresentedDraft> {
  const content = draft?.content ?? null
  return {
    revision: draft?.revision ?? 0,
    baseVersion: draft && content ? draft.baseVersion : row.version,
    content,
    at: draft && content ? draft.updatedAt.toISOString() : null,
    by: draft && content ? draft.updatedBy : null,
    problems: content ? await draftProblems(ctx, noun, current, content) : [],
  }
}

async function draftProblems<R extends Row, V extends VersionRow, C extends Named, W>(
  ctx: ServiceContext,
  noun: Drafted<R, V, C, W>,
  current: C,
  draft: JsonObject,
): Promise<ErrorDetail[]> {
  try {
    return (await noun.problems?.(ctx, noun.withDraft(current, draft))) ?? []
  } catch (err) {
    if (err instanceof AppError && err.code === 'INVALID_INPUT') return err.details
    throw err
  }
}

export function draftConflict(row: Pick<Row, 'version'>): AppError {
  return new AppError('VERSION_CONFLICT', {
    details: [{ path: 'revision', message: 'Someone else saved the draft in between.', currentVersion: row.version }],
  })
}
