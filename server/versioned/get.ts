import type { ServiceContext } from '../context'
import type { Named, Noun, One, Row, VersionRow } from './noun'
import { findWhole } from './row-at'

/**
 * The latest saved version.
 * @throws AppError the noun's `notFound`
 */
export async function get<R extends Row, V extends VersionRow, C extends Named, W>(
  ctx: ServiceContext,
  noun: Noun<R, V, C, W>,
  { id }: One,
): Promise<W> {
  const { row, content } = await findWhole(ctx, noun, id)
  return noun.present(row, content)
}
