import type { ServiceContext } from '../context'
import type { OneVersion, Row, VersionRow } from './noun'
import { findRow, findVersion, type Tables } from './rows'

/**
 * A version and its row.
 * @throws AppError the noun's `notFound`
 */
export async function getVersion<R extends Row, V extends VersionRow>(
  ctx: ServiceContext,
  noun: Tables<R, V>,
  input: OneVersion,
): Promise<{ row: R; version: V }> {
  const row = await findRow(ctx, noun, input.id)
  return { row, version: await findVersion(ctx, noun, row, input.version) }
}
