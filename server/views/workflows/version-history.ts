import type { ServiceContext } from '../../context'
import type { One } from '../../versioned/noun'
import { listWorkflowVersions } from '../../workflows/list-versions'
import { nameActors } from '../actors'

/**
 * The workflow's versions with their authors' names.
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
 */
export async function versionHistory(ctx: ServiceContext, input: One & { page: unknown }) {
  const { items, total, limit, offset } = await listWorkflowVersions(ctx, input)
  const name = await nameActors(
    ctx,
    items.map(({ createdBy }) => createdBy),
  )
  return {
    items: items.map((item) => ({ ...item, createdByName: name(item.createdBy)?.name ?? item.createdBy })),
    total,
    limit,
    offset,
  }
}
export type VersionHistoryItem = Awaited<ReturnType<typeof versionHistory>>['items'][number]
