import type { ServiceContext } from '../../context'
import { listToolVersions } from '../../tools/list'
import { TOOL } from '../../tools/noun'
import type { One } from '../../versioned/noun'
import { withHistory } from '../versioned'

/**
 * The tool's versions with their authors' names and the notes of their publishers.
 * @throws AppError TOOL_NOT_FOUND, INVALID_INPUT
 */
export async function toolHistory(ctx: ServiceContext, input: One & { page: unknown }) {
  const versions = await listToolVersions(ctx, input)
  return { ...versions, items: await withHistory(ctx, TOOL, input, versions.items) }
}
