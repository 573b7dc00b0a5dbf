import type { ServiceContext } from '../context'
import { nameActors } from '../runs/actors'
import { listToolVersions } from './versions'

/** The tool's versions with the names of who saved them. @throws AppError TOOL_NOT_FOUND, INVALID_INPUT */
export async function toolHistory(ctx: ServiceContext, input: { id: string; page: unknown }) {
  const versions = await listToolVersions(ctx, input)
  const nameOf = await nameActors(
    ctx,
    versions.items.map(({ createdBy }) => createdBy),
  )
  const items = versions.items.map((item) => ({ ...item, author: nameOf(item.createdBy)?.name ?? item.createdBy }))
  return { ...versions, items }
}
