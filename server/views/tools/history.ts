import type { ServiceContext } from '../../context'
import { listToolVersions } from '../../tools/list-versions'
import type { One } from '../../versioned/noun'
import { withAuthors } from '../actors'

/**
 * The tool's versions with their authors' names.
 * @throws AppError TOOL_NOT_FOUND, INVALID_INPUT
 */
export async function toolHistory(ctx: ServiceContext, input: One & { page: unknown }) {
  const versions = await listToolVersions(ctx, input)
  return { ...versions, items: await withAuthors(ctx, versions.items) }
}
