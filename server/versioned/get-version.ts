import type { ServiceContext } from '../context'
import type { OneVersion, Row, VersionRow } from './noun'
import { findRowAt } from './row-at'
import type { Tables } from './rows'

/**
 * A version and its row.
 * @throws AppError the noun's `notFound`
 */
export function getVersion<R extends Row, V extends VersionRow>(
  ctx: ServiceContext,
  noun: Tables<R, V>,
  input: OneVersion,
): Promise<{ row: R; version: V }> {
  return findRowAt(ctx, noun, input.id, input.version)
}
