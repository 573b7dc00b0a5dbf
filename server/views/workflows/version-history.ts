import type { ServiceContext } from '../../context'
import type { One } from '../../versioned/noun'
import { listWorkflowVersions } from '../../workflows/list-versions'
import { WORKFLOW } from '../../workflows/noun'
import { nameActors } from '../actors'
import { findNotes } from '../versioned'

/**
 * The workflow's versions with their authors' names and the notes of their publishers.
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
 */
export async function versionHistory(ctx: ServiceContext, input: One & { page: unknown }) {
  const { items, total, limit, offset } = await listWorkflowVersions(ctx, input)
  const [name, note] = await Promise.all([
    nameActors(
      ctx,
      items.map(({ createdBy }) => createdBy),
    ),
    findNotes(ctx, WORKFLOW, input.id),
  ])
  return {
    items: items.map((item) => ({
      ...item,
      createdByName: name(item.createdBy)?.name ?? item.createdBy,
      note: note(item.version),
    })),
    total,
    limit,
    offset,
  }
}
export type VersionHistoryItem = Awaited<ReturnType<typeof versionHistory>>['items'][number]
