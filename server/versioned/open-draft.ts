import { and, eq } from 'drizzle-orm'
import { drafts } from '@/db/schema/drafts'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { type Drafted, type PresentedDraft, presentDraft } from './draft'
import type { Named, One, Row, VersionRow } from './noun'
import { ownRow, ownVersion, rowIs } from './rows'

/**
 * The latest version and its draft, from one snapshot.
 * @throws AppError the noun's `notFound`
 */
export async function openDraft<R extends Row, V extends VersionRow, C extends Named, W>(
  ctx: ServiceContext,
  noun: Drafted<R, V, C, W>,
  { id }: One,
): Promise<W & { draft: PresentedDraft }> {
  if (!isId(id)) throw new AppError(noun.notFound)
  const { table, versions } = noun
  const [found] = await ctx.db
    .select({ row: table, version: versions, draft: drafts })
    .from(table)
    .innerJoin(
      versions,
      and(eq(versions.tenantId, table.tenantId), eq(noun.ownerId, table.id), eq(versions.version, table.version)),
    )
    .leftJoin(drafts, and(eq(drafts.tenantId, table.tenantId), eq(drafts.noun, noun.word), eq(drafts.id, table.id)))
    .where(rowIs(ctx, noun, id))
  if (!found) throw new AppError(noun.notFound)
  const row = ownRow(noun, found.row)
  const content = noun.contentOf(ownVersion(noun, found.version))
  return { ...noun.present(row, content), draft: await presentDraft(ctx, noun, row, content, found.draft) }
}
