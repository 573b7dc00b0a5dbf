import { and, eq, isNotNull } from 'drizzle-orm'
import type { ServiceContext } from '../context'
import type { PresentedDraft } from '../versioned/draft'
import type { One, Row, VersionRow } from '../versioned/noun'
import type { Tables } from '../versioned/rows'
import { nameActors, withAuthors } from './actors'

/** Adds the name of the draft's last author, and whether that is the caller. */
export async function withDraftAuthor<D extends { draft: PresentedDraft }>(ctx: ServiceContext, opened: D) {
  const { draft } = opened
  const nameOf = draft.by === null ? null : await nameActors(ctx, [draft.by])
  const byName = nameOf?.(draft.by)?.name ?? draft.by
  return { ...opened, draft: { ...draft, byName, byYou: draft.by === ctx.actor.id } }
}

/** Adds the names of versions' authors, and their publishing notes. */
export async function withHistory<
  R extends Row,
  V extends VersionRow,
  I extends { version: number; createdBy: string },
>(ctx: ServiceContext, noun: Tables<R, V>, { id }: One, items: readonly I[]) {
  const [authored, noteOf] = await Promise.all([withAuthors(ctx, items), findNotes(ctx, noun, id)])
  return authored.map((item) => ({ ...item, note: noteOf(item.version) }))
}

/** Finds the notes of versions. */
export async function findNotes<R extends Row, V extends VersionRow>(
  ctx: ServiceContext,
  { versions, ownerId }: Tables<R, V>,
  id: string,
): Promise<(version: number) => string | null> {
  const { tenantId, version, note } = versions
  const found = await ctx.db
    .select({ version, note })
    .from(versions)
    .where(and(eq(tenantId, ctx.tenantId), eq(ownerId, id), isNotNull(note)))
  const notes = new Map(found.map((one) => [one.version, one.note]))
  return (of) => notes.get(of) ?? null
}
