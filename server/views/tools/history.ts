import type { ServiceContext } from '../../context'
import { listToolVersions } from '../../tools/versions'
import { withAuthors } from '../actors'

/** The tool's versions with the names of who saved them. @throws AppError TOOL_NOT_FOUND, INVALID_INPUT */
export async function toolHistory(ctx: ServiceContext, input: { id: string; page: unknown }) {
  const versions = await listToolVersions(ctx, input)
  return { ...versions, items: await withAuthors(ctx, versions.items) }
}
