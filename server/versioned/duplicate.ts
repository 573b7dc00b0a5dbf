import { type ServiceContext, withTransaction } from '../context'
import { newId } from '../ids'
import { copyName } from './copy-name'
import { create } from './create'
import type { Named, Noun, One, Row, VersionRow } from './noun'
import { findWhole } from './row-at'

/**
 * Creates a draft from the latest version; works for archived ones too.
 * @throws AppError the noun's `notFound`
 */
export async function duplicate<R extends Row, V extends VersionRow, C extends Named, W>(
  ctx: ServiceContext,
  noun: Noun<R, V, C, W>,
  { id }: One,
): Promise<W> {
  return withTransaction(ctx, async (tx) => {
    const { row, content } = await findWhole(tx, noun, id)
    const named = { ...content, name: copyName(content.name, noun.maxName) }
    return create(tx, noun, newId(noun.idPrefix), named, noun.carriedOver?.(row), id)
  })
}
